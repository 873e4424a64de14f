/*
 * The ratio of two measured times, from pairs of one measurement each, with an interval that may be
 * looked at after every pair.
 *
 * The interval is of the median of the pairs' log ratios. Whatever the distribution of these, a
 * ratio lies above its median as often as below; pairs must not depend on one another. So what is
 * tested is a coin: a median is ruled out when the product of bets on the coin that are wrong on
 * it, mixed over all biases with Beta(1/2, 1/2), exceeds REPRISE_TUNE_PAIRS_ODDS. That happens, at
 * any time, with a probability of at most 1 / REPRISE_TUNE_PAIRS_ODDS, by half of it on either side
 * (Ville's inequality; Robbins 1970; Howard and Ramdas, Sequential estimation of quantiles,
 * Bernoulli 28, 2022). No outlier weighs more than any other pair. Eight pairs that agree give the
 * first bounded interval.
 *
 * Integers only: this may run on the program's threads (base/clock.c). No threads, locks or clocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPRISE_PAIRS_MOST 256

/* Logarithms to the base of 2, in units of 2^-20. */
#define REPRISE_LOG2_BITS 20

struct reprise_pairs {
	unsigned int count;
	/* The interval goes from the pair with so many below it to the one with so many above it; -1:
	 * it has no bounds yet. */
	int outside;
	int64_t evidence; /* log2 of the bets against a median with outside + 1 pairs on one side */
	int32_t ratios[REPRISE_PAIRS_MOST]; /* log2, sorted */
};

struct reprise_interval {
	int32_t median, low, high; /* log2 */
	bool bounded;              /* otherwise `low` and `high` say nothing */
};

void reprise_pairs_begin(struct reprise_pairs *pairs);

/* Adds the ratio over / under. Dropped if REPRISE_PAIRS_MOST are there, or one of the two is 0. */
void reprise_pairs_add(struct reprise_pairs *pairs, uint64_t over, uint64_t under);

/* Forgets every second pair: the median stays about what it was, and weighs half as much. Of a
 * single pair none is left. */
void reprise_pairs_halve(struct reprise_pairs *pairs);

/* Adds the pairs of another measurement of the same. Where there is no room for all, earlier ones
 * are halved until there is. */
void reprise_pairs_join(struct reprise_pairs *pairs, const struct reprise_pairs *others);

/* The interval so far. Without any pair all is 0. */
struct reprise_interval reprise_pairs_read(const struct reprise_pairs *pairs);

/* True if the standard error of the median is above `error` (log2), by the pairs' quartiles: of
 * normal noise these are 1.35 standard deviations apart, and the median of n varies by 1.25 of a
 * pair's, over the root of n. */
bool reprise_pairs_are_rough(const struct reprise_pairs *pairs, int32_t error);

/* How many more pairs have a ratio above 1 than below. */
int reprise_pairs_surplus(const struct reprise_pairs *pairs);

/* log2 of a value that is not 0. */
int32_t reprise_log2(uint64_t value);

/* 1000 times two to the power of `log2`, rounded. 1000: equal. */
uint32_t reprise_thousandths(int32_t log2);

/* log2 of a ratio in thousandths. */
int32_t reprise_log2_of_thousandths(uint32_t thousandths);
