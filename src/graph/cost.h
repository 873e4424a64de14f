/*
 * The costs of the means to run a visit, measured in this process: the cheapest is taken.
 *
 * An estimate is a mean in which each measurement weighs an eighth; of launches, the lower
 * quartile. It begins with figures of an H200 (docs/decisions/0017-costs-of-updates.md). Clocks are
 * read only where something is patched, built or issued by a side exit. Any thread, without a lock:
 * one of two simultaneous measurements may be lost, which does no harm.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/tuning.h"

/* Each means: name in reports, the first estimate of a unit, and the unit. */
#define REPRISE_COSTS(X) \
	X(node_set, REPRISE_TUNE_COST_NODE_SET_NS, "single node set") \
	X(capture, REPRISE_TUNE_COST_CAPTURE_NS, \
	  "call captured for a whole-graph update, its share of beginning and ending included") \
	X(update, REPRISE_TUNE_COST_UPDATE_NS, \
	  "node that a whole-graph update looked at; one that changed counts as 8 of them") \
	X(build, REPRISE_TUNE_COST_BUILD_NS, "node of a graph built") \
	X(launch, REPRISE_TUNE_COST_LAUNCH_NS, \
	  "launch of a graph: the lower quartile, so that waits are not in it") \
	X(eager, REPRISE_TUNE_COST_EAGER_NS, "call issued by an early exit")

enum reprise_cost {
#define X(name, ns, text) REPRISE_COST_##name,
	REPRISE_COSTS(X)
#undef X
		REPRISE_COST_COUNT
};

extern _Atomic uint64_t reprise_cost_estimates[REPRISE_COST_COUNT]; /* picoseconds */

/* Nanoseconds for `count` units. */
static inline uint64_t reprise_cost(enum reprise_cost cost, uint64_t count)
{
	return atomic_load_explicit(&reprise_cost_estimates[cost], memory_order_relaxed) * count / 1000;
}

/* False if it is still the first estimate: it was not measured in this process. */
bool reprise_cost_is_measured(enum reprise_cost cost);

/* `count` units took `ns` nanoseconds. */
void reprise_cost_took(enum reprise_cost cost, uint64_t ns, uint64_t count);
