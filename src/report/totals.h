/* What all lanes did together, and what that was worth: what the reports tell. Read without
 * stopping anybody, so that figures may be one short. */
#pragma once

#include "lane/lane.h"
#include "trace/account.h"

/* Nanoseconds of the program's threads. What was not measured is taken to be as on an H200. */
struct reprise_gain {
	uint64_t kind_ns[REPRISE_OP_KIND_COUNT]; /* one op, eagerly */
	uint64_t launch_ns;                      /* a graph's launch, unpatched */
	bool eager_measured, launch_measured;
	uint64_t all_ns; /* what all ops would have cost eagerly: never less than the next one */
	uint64_t
		replaced_ns; /* what those that were replayed would have, as their traces were priced */
	uint64_t launches_ns, patches_ns, exits_ns, defers_ns; /* what they cost instead */
	int64_t saved_ns;
	uint64_t build_ns;                  /* in the background */
	uint64_t firsts, pauses, pauses_ns; /* observe only: stats/pauses.h */
};

struct reprise_totals {
	struct reprise_lane_counts counts;
	uint64_t ops;            /* those of streams without a lane included */
	unsigned int lanes_busy; /* whose traces are not told of, since a thread is at work in them */
	struct reprise_accounts accounts;
	struct reprise_gain gain;
};

/* Makes no call of the driver's. Not by two threads at a time: they are large, and there is one of
 * them. */
const struct reprise_totals *reprise_totals_take(void);

/* The counts of all lanes alone. By any thread. */
struct reprise_lane_counts reprise_counts_sum(void);

uint64_t reprise_side_exits(const struct reprise_lane_counts *counts);

/* Ops that a lane is left alone for are counted beforehand: without them. */
struct reprise_lane_counts reprise_lane_counts_now(struct reprise_lane *lane);
