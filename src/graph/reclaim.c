/*
 * The reclaim list: executable graphs given up, for the builder to destroy. They may still run: the
 * driver frees a graph in flight once it has completed (cuGraphExecDestroy). Reprise does not wait
 * with an event: that would be an op on the program's stream, and on the legacy stream it would
 * order all blocking ones.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "graph/graph.h"
#include "graph/estimate.h"

struct reprise_reclaim_entry {
	struct reprise_reclaim_entry *next;
	CUcontext context;
	CUgraph graph;
	CUgraphExec executable;
	unsigned int nodes;
};

static struct reprise_lock reclaim_lock;
static struct reprise_reclaim_entry *entries;

struct reprise_reclaim_entry *reprise_reclaim_new(void)
{
	return malloc(sizeof(struct reprise_reclaim_entry));
}

void reprise_graph_retire(struct reprise_graph *graph)
{
	struct reprise_reclaim_entry *reclaim = graph->reclaim;

	if (reclaim != NULL) {
		*reclaim = (struct reprise_reclaim_entry){NULL, graph->capture_streams->context,
		                                          graph->graph, graph->executable, graph->count};
		reprise_lock_take(&reclaim_lock);
		reclaim->next = entries;
		entries = reclaim;
		reprise_lock_give(&reclaim_lock);
	}
	graph->reclaim = NULL;
	graph->executable = NULL;
	graph->graph = NULL;
	atomic_store(&graph->state, REPRISE_GRAPH_EMPTY);
}

/* Takes an entry of the context; NULL: of any. */
static struct reprise_reclaim_entry *take(CUcontext context)
{
	struct reprise_reclaim_entry *reclaim, **at = &entries;

	reprise_lock_take(&reclaim_lock);
	while (*at != NULL && context != NULL && (*at)->context != context)
		at = &(*at)->next;
	reclaim = *at;
	if (reclaim != NULL)
		*at = reclaim->next;
	reprise_lock_give(&reclaim_lock);
	return reclaim;
}

/* The entry's context must be current. */
static void destroy(struct reprise_reclaim_entry *reclaim)
{
	uint64_t begin = reprise_clock_ns();

	reprise_driver.cuGraphExecDestroy(reclaim->executable);
	reprise_driver.cuGraphDestroy(reclaim->graph);
	reprise_count_most(REPRISE_COUNT_destroy_longest_ns, reprise_clock_ns() - begin);
	reprise_count(REPRISE_COUNT_graphs_destroyed, 1);
	reprise_estimate_remove(reclaim->nodes);
	free(reclaim);
}

struct reprise_reclaim_entry *reprise_reclaim_take(CUcontext context)
{
	struct reprise_reclaim_entry *taken = NULL;

	for (struct reprise_reclaim_entry *reclaim; (reclaim = take(context)) != NULL; taken = reclaim)
		reclaim->next = taken;
	return taken;
}

void reprise_reclaim_destroy(struct reprise_reclaim_entry *graves_taken)
{
	for (struct reprise_reclaim_entry *reclaim = graves_taken, *next; reclaim != NULL;
	     reclaim = next) {
		bool pushed = reprise_driver_make_current(reclaim->context);

		next = reclaim->next;
		destroy(reclaim);
		reprise_driver_restore_current(pushed);
	}
}

void reprise_reclaim_lose(CUcontext context)
{
	for (struct reprise_reclaim_entry *reclaim; (reclaim = take(context)) != NULL;) {
		reprise_estimate_remove(reclaim->nodes);
		free(reclaim);
	}
}

unsigned int reprise_reclaim_sweep(unsigned int most)
{
	unsigned int destroyed = 0;

	for (struct reprise_reclaim_entry *reclaim; destroyed < most && (reclaim = take(NULL)) != NULL;
	     destroyed++) {
		reprise_driver.cuCtxSetCurrent(reclaim->context);
		destroy(reclaim);
	}
	return destroyed;
}

void reprise_reclaim_reset(void)
{
	atomic_store(&reclaim_lock.word, 0);
	entries = NULL;
}
