/* The totals of all lanes, and what Reprise gained. Read while threads run, so counts may be one
 * short. */
#pragma once

#include "lane/lane.h"
#include "trace/account.h"

/* Nanoseconds of the program's threads. What was not measured has the values of an H200. */
struct reprise_gain {
	uint64_t kind_ns[REPRISE_OP_KIND_COUNT]; /* one eager op */
	uint64_t launch_ns;                      /* one launch of a graph, unpatched */
	bool kind_measured[REPRISE_OP_KIND_COUNT];
	bool eager_measured, launch_measured; /* eager: of kernels */
	uint64_t all_ns;                      /* all ops, if they were eager; at least replaced_ns */
	/* The replayed ops, if they were eager, at the prices of their traces. */
	uint64_t replaced_ns;
	uint64_t launches_ns, patches_ns, exits_ns, defers_ns; /* what they cost instead */
	int64_t saved_ns;
	uint64_t build_ns;                  /* in the background */
	uint64_t firsts, pauses, pauses_ns; /* mode observe only: stats/pauses.h */
};

struct reprise_totals {
	struct reprise_lane_counts counts;
	uint64_t ops; /* including those of streams without a lane */
	/* Lanes in use by a thread: their traces are left out. */
	unsigned int lanes_busy;
	struct reprise_accounts accounts;
	struct reprise_gain gain;
};

/* Makes no driver call. Not thread-safe: the result is one large static structure. */
const struct reprise_totals *reprise_totals_take(void);

/* The sum of all lanes' counts. Any thread. */
struct reprise_lane_counts reprise_counts_sum(void);

uint64_t reprise_side_exits(const struct reprise_lane_counts *counts);

/* The lane's counts, without the ops that its backoff has counted ahead. */
struct reprise_lane_counts reprise_lane_counts_now(struct reprise_lane *lane);
