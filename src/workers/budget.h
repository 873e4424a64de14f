/*
 * The time that building may take. The driver holds a lock while it captures, instantiates and
 * destroys, which slows the program's launches. So the builder works only while there is credit.
 * Credit is limited to one burst: a program that did nothing new for an hour must not stall when it
 * does.
 */
#pragma once

#include <stdint.h>

struct reprise_budget {
	uint64_t begin, seen; /* ns: start of the run; credit was added up to `seen` */
	int64_t credit;       /* ns; negative if work took longer than its credit */
};

void reprise_budget_begin(struct reprise_budget *budget, uint64_t now);

/* Nanoseconds to rest before the next piece of work: 0 if there is credit. */
uint64_t reprise_budget_rest(struct reprise_budget *budget, uint64_t now);

/* Work that took longer than REPRISE_TUNE_BUDGET_DEBT_NS counts as that. */
void reprise_budget_spend(struct reprise_budget *budget, uint64_t nanoseconds);
