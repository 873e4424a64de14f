/*
 * The time that building may take. The driver holds a lock while it captures, instantiates and
 * destroys, which slows the program's launches. So the builder works only while there is credit.
 * Credit is limited to one burst: a program that did nothing new for an hour must not stall when it
 * does. It comes slowly while replaying is not measured to gain: what is built then may be in vain.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reprise_budget {
	uint64_t begin, seen; /* ns: start of the run; credit was added up to `seen` */
	int64_t credit;       /* ns; negative if work took longer than its credit */
};

void reprise_budget_begin(struct reprise_budget *budget, uint64_t now);

/* Nanoseconds to rest before the next piece of work: 0 if there is credit. `gains`: replaying is
 * measured to gain, or nothing is measured. */
uint64_t reprise_budget_rest(struct reprise_budget *budget, uint64_t now, bool gains);

/* Work that took longer than REPRISE_TUNE_BUDGET_DEBT_NS counts as that. */
void reprise_budget_spend(struct reprise_budget *budget, uint64_t nanoseconds);
