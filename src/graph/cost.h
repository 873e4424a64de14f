/*
 * What each means of running a visit costs here, measured in this process, so that the cheapest can
 * be taken.
 *
 * An estimate is a mean in which each measurement weighs an eighth; it begins with what an H200
 * took (docs/decisions/0017-costs-of-updates.md). Clocks are read where something is patched, built
 * or issued by a side exit, never where values agree. Any thread, without a lock: of two
 * measurements at one time one may be lost, which harms nobody.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Each means, once: name in reports, nanoseconds for one on an H200, and one what. */
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

/* Nanoseconds that so many would take. */
static inline uint64_t reprise_cost(enum reprise_cost cost, uint64_t count)
{
	return atomic_load_explicit(&reprise_cost_estimates[cost], memory_order_relaxed) * count / 1000;
}

/* So many took so long. */
void reprise_cost_took(enum reprise_cost cost, uint64_t ns, uint64_t count);
