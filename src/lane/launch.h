/* Launches complete visits, for the program's threads and for Reprise's, and counts them. A visit
 * counts once its graph was launched. */
#pragma once

#include "graph/graph.h"
#include "lane/lane.h"

struct reprise_launch {
	struct reprise_trace *trace;
	/* The values that the graph needs: what reprise_graph_patch() takes. */
	const struct reprise_op *ops;
	const uint64_t *changed;
	unsigned int nodes; /* with other values */
};

/* Patches the trace's graph where needed, and launches it. If it was not launched, returns why: not
 * REPRISE_PATCH_DONE. The lane's context is current, and the caller is between
 * reprise_gate_begin_giving() and its end. Under the lane's lock; for a pending visit, under
 * `queue.lock` instead. */
enum reprise_patch reprise_launch_graph(struct reprise_lane *lane,
                                        const struct reprise_launch *launch);

/* The visit's graph was launched: counts its ops as replayed, `patched` of them with new values.
 * `now`: the lane's count of ops when the visit was complete. Under the lane's lock. */
void reprise_launch_count(struct reprise_lane *lane, struct reprise_trace *trace,
                          unsigned int patched, uint64_t now);
