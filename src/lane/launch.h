/* A complete visit is launched here, by whichever thread, and counted once its launch was made. */
#pragma once

#include "graph/graph.h"
#include "lane/lane.h"

struct reprise_launch {
	struct reprise_trace *trace;
	/* The values that the graph needs: what reprise_graph_patch() takes. */
	const struct reprise_op *ops;
	const uint64_t *changed, *absent;
	unsigned int nodes; /* that are set or toggled before, for the timeline */
	bool patch;         /* the graph does not have the visit's values yet */
};

/* Patches the trace's graph if it has to be, and launches it. Anything but REPRISE_PATCH_DONE: it
 * was not launched. The lane's context is current, the gate is entered; under the lock of the lane
 * or, of a pending visit, of its queue. */
enum reprise_patch reprise_launch_graph(struct reprise_lane *lane,
                                        const struct reprise_launch *launch);

/* The visit's graph was launched: counts its ops as replayed, `patched` of them with new values and
 * without `absent`. `now`: the lane's count of ops when the visit was complete. Under the lane's
 * lock. */
void reprise_launch_count(struct reprise_lane *lane, struct reprise_trace *trace,
                          unsigned int patched, unsigned int absent, uint64_t now);
