/*
 * The time that building may take. The driver holds a lock of its own while it captures,
 * instantiates and destroys, which slows the program's launches: so it is done at once while there
 * is credit, and rests until there is again. Credit never grows past one burst, so that a program
 * which did nothing new for an hour is not stalled when it does.
 */
#pragma once

#include <stdint.h>

#define REPRISE_BUDGET_BURST_NS 50000000u
#define REPRISE_BUDGET_FIRST_NS \
	1000000000u                       /* the run's first second, when most is to be built, \
	                                   */
#define REPRISE_BUDGET_FIRST_SHARE 20 /* credits one part in so many of itself */
#define REPRISE_BUDGET_SHARE 50       /* and all time after it one part in so many */

struct reprise_budget {
	uint64_t begin, seen; /* when it began, and until when time has been credited */
	int64_t credit; /* nanoseconds; less than none after a piece of work that took longer than there
	                   was credit */
};

void reprise_budget_begin(struct reprise_budget *budget, uint64_t now);

/* How long to rest before the next piece of work: 0 if there is credit. */
uint64_t reprise_budget_rest(struct reprise_budget *budget, uint64_t now);

void reprise_budget_spend(struct reprise_budget *budget, uint64_t nanoseconds);
