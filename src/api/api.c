/* The public API; include/reprise/reprise.h has the contracts. May be called before Reprise has
 * started and when it is off: there are no lanes then. */
#define REPRISE_LIBRARY
#include "../../include/reprise/reprise.h"

#include <string.h>

#include "base/store.h"
#include "graph/estimate.h"
#include "graph/build_queue.h"
#include "entry/entry.h"
#include "stats/counters.h"
#include "report/totals.h"

#define SHOWN __attribute__((visibility("default")))

SHOWN void reprise_flush(void)
{
	reprise_issue();
}

SHOWN void reprise_pause(void)
{
	reprise_pause_begin();
}

SHOWN void reprise_resume(void)
{
	reprise_pause_end();
}

/* The program may have been built with a newer or an older header. */
SHOWN size_t reprise_read_counts(struct reprise_counts *counts, size_t size)
{
	struct reprise_lane_counts sum = reprise_counts_sum();
	struct reprise_counts known = {
		.ops = sum.ops + sum.in_turns,
		.replayed = sum.replayed,
		.paused_ops = reprise_counted(REPRISE_COUNT_paused_ops),
		.launches = sum.launches,
		.traces = sum.traces,
		.side_exits = reprise_side_exits(&sum),
		.updates =
			reprise_counted(REPRISE_COUNT_updates) + reprise_counted(REPRISE_COUNT_node_patches),
		.graphs_built = reprise_counted(REPRISE_COUNT_graphs_built),
		.build_ns = reprise_counted(REPRISE_COUNT_build_ns),
		.hold_longest_ns = reprise_counted(REPRISE_COUNT_hold_longest_ns),
		.graph_bytes = reprise_estimate_bytes(),
		.host_bytes = reprise_store_used(),
		.graphs_waiting = reprise_build_queue_unfinished(),
	};
	size_t both = size < sizeof(known) ? size : sizeof(known);

	memset(counts, 0, size);
	memcpy(counts, &known, both);
	return both;
}
