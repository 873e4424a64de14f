/*
 * Executable graphs that nobody launches any more, for the building thread to destroy. They may
 * still run: the driver frees a graph in flight when it has completed ("it will not be terminated,
 * but rather freed asynchronously on completion", cuGraphExecDestroy). Waiting for that behind an
 * event of ours would put an op on the program's stream, and on the legacy stream that orders all
 * blocking ones.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "driver/current.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "graph/graph.h"
#include "graph/ledger.h"

struct reprise_grave {
	struct reprise_grave *next;
	CUcontext context;
	CUgraph graph;
	CUgraphExec executable;
	unsigned int nodes;
};

static struct reprise_lock graveyard_lock;
static struct reprise_grave *graves;

struct reprise_grave *reprise_grave_new(void)
{
	return malloc(sizeof(struct reprise_grave));
}

void reprise_graph_retire(struct reprise_graph *graph)
{
	struct reprise_grave *grave = graph->grave;

	if (grave != NULL) {
		*grave = (struct reprise_grave){NULL, graph->workshop->context, graph->graph,
		                                graph->executable, graph->count};
		reprise_lock_take(&graveyard_lock);
		grave->next = graves;
		graves = grave;
		reprise_lock_give(&graveyard_lock);
	}
	graph->grave = NULL;
	graph->executable = NULL;
	graph->graph = NULL;
	reprise_graph_all_enabled(graph);
	atomic_store(&graph->state, REPRISE_GRAPH_EMPTY);
}

/* One of the context's, or if NULL any. */
static struct reprise_grave *take(CUcontext context)
{
	struct reprise_grave *grave, **at = &graves;

	reprise_lock_take(&graveyard_lock);
	while (*at != NULL && context != NULL && (*at)->context != context)
		at = &(*at)->next;
	grave = *at;
	if (grave != NULL)
		*at = grave->next;
	reprise_lock_give(&graveyard_lock);
	return grave;
}

/* Its context is current. */
static void destroy(struct reprise_grave *grave)
{
	uint64_t begin = reprise_clock_ns();

	reprise_driver.cuGraphExecDestroy(grave->executable);
	reprise_driver.cuGraphDestroy(grave->graph);
	reprise_count_most(REPRISE_COUNT_destroy_longest_ns, reprise_clock_ns() - begin);
	reprise_count(REPRISE_COUNT_graphs_destroyed, 1);
	reprise_ledger_remove(grave->nodes);
	free(grave);
}

struct reprise_grave *reprise_graveyard_take(CUcontext context)
{
	struct reprise_grave *taken = NULL;

	for (struct reprise_grave *grave; (grave = take(context)) != NULL; taken = grave)
		grave->next = taken;
	return taken;
}

void reprise_graveyard_destroy(struct reprise_grave *graves_taken)
{
	for (struct reprise_grave *grave = graves_taken, *next; grave != NULL; grave = next) {
		bool pushed = reprise_driver_make_current(grave->context);

		next = grave->next;
		destroy(grave);
		reprise_driver_restore_current(pushed);
	}
}

void reprise_graveyard_lose(CUcontext context)
{
	for (struct reprise_grave *grave; (grave = take(context)) != NULL;) {
		reprise_ledger_remove(grave->nodes);
		free(grave);
	}
}

unsigned int reprise_graveyard_sweep(unsigned int most)
{
	unsigned int destroyed = 0;

	for (struct reprise_grave *grave; destroyed < most && (grave = take(NULL)) != NULL;
	     destroyed++) {
		reprise_driver.cuCtxSetCurrent(grave->context);
		destroy(grave);
	}
	return destroyed;
}

void reprise_graveyard_reset(void)
{
	atomic_store(&graveyard_lock.word, 0);
	graves = NULL;
}
