/* What pairs of measurements tell: how many times one side is the other, and how surely. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REPRISE_PAIRS_LEAST 6 /* with fewer no interval of 95 % can be had */
#define REPRISE_PAIRS_MOST 500

struct reprise_paired {
	double ratio;           /* of `over` to `under`, as the pairs together estimate it */
	double least, greatest; /* contains the true ratio with a probability of 95 % */
	bool bounded;           /* false: there are too few pairs for an interval */
};

/*
 * Hodges and Lehmann's estimate, and the interval that belongs to Wilcoxon's signed-rank test, of
 * the logarithms of the pairs' ratios. Exact for any number of pairs and any distribution if a
 * pair's sides were measured in random order. From 12 pairs on, one run that was disturbed moves
 * neither far. All numbers are positive, and `count` is from 1 to REPRISE_PAIRS_MOST. False if
 * there is no memory.
 */
bool reprise_paired_of(const double *over, const double *under, size_t count,
                       struct reprise_paired *paired);
