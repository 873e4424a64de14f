/*
 * How many waits of a program make one period of its loop (lane/anchor.h): from where the ops come
 * that are the first after a wait, in the lane's ops.
 *
 * As few waits make one as have about as many ops each time: one, to a
 * REPRISE_TUNE_ANCHOR_WAITED_MARGIN-th, or several, to a REPRISE_TUNE_ANCHOR_WAITS_MARGIN-th. Where
 * none do, and where these were part of a loop only, the distances between waits may come again in
 * the same order, to a REPRISE_TUNE_ANCHOR_MARGIN-th: the order is the period. All numbers of waits
 * are tried at once, on the same waits.
 *
 * No threads, locks or clocks: the caller has all of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tuning.h"

#define REPRISE_WAITS_MOST (1 + 2 * REPRISE_TUNE_ANCHOR_ORDER_MOST)

struct reprise_waits {
	struct reprise_wait {
		uint64_t ops, ns;
	} waits[REPRISE_WAITS_MOST]; /* since the first one */
	unsigned int count;
	uint64_t first_ops, first_ns; /* and what was left out since */
};

struct reprise_waits_period {
	unsigned int waits;   /* in a period; 0: none is known yet */
	unsigned int periods; /* so many have passed, the last one with the last wait */
	uint64_t ops;         /* of a period, the mean, and of the shortest */
	uint64_t least_ops;
	uint64_t ns; /* of a period, the mean; no outlier weighs much (usual.h) */
};

void reprise_waits_begin(struct reprise_waits *waits);

/* The first op after a wait is the lane's op of this number. */
void reprise_waits_note(struct reprise_waits *waits, uint64_t ops, uint64_t ns);

/* What passed since the last one is left out, so many ops and so much time. */
void reprise_waits_leave_out(struct reprise_waits *waits, uint64_t ops, uint64_t ns);

/* Of more than `more` waits. If `more` is not 0, fewer of them were part of a loop only: then
 * nothing but the same order counts. */
struct reprise_waits_period reprise_waits_find(const struct reprise_waits *waits,
                                               unsigned int more);

/* True if no more can be noted: nothing will be found. */
bool reprise_waits_are_all(const struct reprise_waits *waits);
