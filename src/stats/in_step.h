/*
 * When pairs of turns begin in a process that is one of several ranks.
 *
 * Ranks wait for each other in each period of their loop. So what an arm of one rank gains shows
 * only while the others are in the same arm: with turns at times of its own a rank sees no gain
 * where there is one, and of eight ranks hardly one ever gets a verdict. So the ranks of a job
 * agree on when a pair begins, and which arm comes first, without a word: by a clock that they have
 * in common. Its time is cut into slots, of a power of two nanoseconds, so that the slots of ranks
 * whose pairs take longer begin with some of the others'. Rests end with such a slot, too.
 *
 * Integers only. No threads, locks or clocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reprise_in_step {
	/* What the common clock is ahead of the caller's; 0: the process is no rank. */
	uint64_t ahead_ns;
	uint64_t slot; /* the common time at which the last pair's slot began */
};

/* True once for each slot, soon after it has begun: a pair may begin, which takes about `pair_ns`.
 * Always, if the process is no rank. */
bool reprise_in_step_begins(struct reprise_in_step *step, uint64_t now_ns, uint64_t pair_ns);

/* When the next slot begins, by the caller's clock; UINT64_MAX, if the process is no rank. */
uint64_t reprise_in_step_next(const struct reprise_in_step *step, uint64_t now_ns,
                              uint64_t pair_ns);

/* The same for the rest after a test, which is to take about `rest_ns`, and ends later by half of
 * that at most. */
uint64_t reprise_in_step_rest(const struct reprise_in_step *step, uint64_t now_ns,
                              uint64_t rest_ns);

/* A number for the last pair, the same in all ranks, or `random`, if the process is no rank. */
uint64_t reprise_in_step_random(const struct reprise_in_step *step, uint64_t random);
