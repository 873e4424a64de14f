/*
 * How long a loop's periods are: the mean of some, and whether it is still what it was.
 *
 * Integers only. No threads, locks or clocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The mean of so many periods, which it sorts. A period weighs REPRISE_TUNE_TURN_OUTLIER medians at
 * most: stalls count, and one of them does not decide. */
uint64_t reprise_periods_mean(uint64_t *periods, unsigned int count);

/* The one in the midst of an odd number, which it sorts. */
uint64_t reprise_periods_median(uint64_t *periods, unsigned int count);

/* Of windows of periods. All 0: nothing is known. */
struct reprise_usual {
	uint64_t mean_ns, spread_ns;   /* and how far windows are from it */
	unsigned int windows, unusual; /* those known; those in a row that are too far off */
};

/* A window's mean was `took`. True if some windows in a row have not been what they were: what was
 * measured may not hold any more. How much windows differ anyway is learnt. */
bool reprise_usual_has_changed(struct reprise_usual *usual, uint64_t took);
