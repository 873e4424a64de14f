/*
 * The costs of the means to run a visit, measured in this process: the cheapest is taken.
 *
 * An estimate is a mean in which each measurement weighs an eighth. It begins with figures of an
 * H200 (docs/decisions/0017-costs-of-updates.md). Clocks are read only where something is patched,
 * built or issued by a side exit. Any thread, without a lock: one of two simultaneous measurements
 * may be lost, which does no harm.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Each means: name in reports, nanoseconds per unit on an H200, and the unit. */
#define REPRISE_COSTS(X) \
	X(node_set, 600, "single node set") \
	X(capture, 620, \
	  "op captured for a whole-graph update, its share of beginning and ending included") \
	X(update, 55, \
	  "node that a whole-graph update looked at; one that changed counts as REPRISE_COST_CHANGED of them") \
	X(toggle, 2100, "node disabled or enabled") \
	X(build, 2000, "node of a graph built") \
	X(launch, 2250, "launch of a graph that was patched for it") \
	X(eager, 3900, "op issued by a side exit")

#define REPRISE_COST_CHANGED 8u

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

/* `count` units took `ns` nanoseconds. */
void reprise_cost_took(enum reprise_cost cost, uint64_t ns, uint64_t count);
