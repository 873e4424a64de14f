/*
 * Executable graphs that nobody launches any more, for the building thread to destroy. They may still run: the driver frees a graph in flight
 * when it has completed ("it will not be terminated, but rather freed asynchronously on completion", cuGraphExecDestroy). Waiting for that
 * behind an event of ours would put an op on the program's stream, and on the legacy stream that orders all blocking ones.
 */
#include <stdlib.h>

#include "../base/clock.h"
#include "../base/lock.h"
#include "../driver/driver.h"
#include "../report/counters.h"
#include "graph.h"
#include "ledger.h"

struct grave {
	struct grave *next;
	CUcontext context;
	CUgraph graph;
	CUgraphExec executable;
	unsigned int nodes;
};

static struct reprise_lock graveyard_lock;
static struct grave *graves;

void reprise_graph_retire(struct reprise_graph *graph)
{
	struct grave *grave = graph->executable != NULL ? malloc(sizeof(*grave)) : NULL;

	/* Without memory for it, it is left to its context. */
	if (grave != NULL) {
		*grave = (struct grave){NULL, graph->workshop->context, graph->graph, graph->executable, graph->count};
		reprise_lock_take(&graveyard_lock);
		grave->next = graves;
		graves = grave;
		reprise_lock_give(&graveyard_lock);
	}
	graph->executable = NULL;
	graph->graph = NULL;
	reprise_graph_all_enabled(graph);
	atomic_store(&graph->state, REPRISE_GRAPH_EMPTY);
}

void reprise_graph_gone(struct reprise_graph *graph)
{
	if (graph->executable != NULL)
		reprise_ledger_remove(graph->count);
	graph->executable = NULL;
}

static struct grave *take(void)
{
	struct grave *grave;

	reprise_lock_take(&graveyard_lock);
	grave = graves;
	if (grave != NULL)
		graves = grave->next;
	reprise_lock_give(&graveyard_lock);
	return grave;
}

static void destroy(const struct grave *grave)
{
	uint64_t begin = reprise_clock_ns();

	if (reprise_driver.cuCtxSetCurrent(grave->context) != CUDA_SUCCESS)
		return;
	reprise_driver.cuGraphExecDestroy(grave->executable);
	reprise_driver.cuGraphDestroy(grave->graph);
	reprise_count_most(REPRISE_COUNT_destroy_longest_ns, reprise_clock_ns() - begin);
	reprise_count(REPRISE_COUNT_graphs_destroyed, 1);
}

/* It is gone, by our hand or with its context. */
static void clear(struct grave *grave)
{
	reprise_ledger_remove(grave->nodes);
	free(grave);
}

unsigned int reprise_graveyard_sweep(unsigned int most)
{
	unsigned int destroyed = 0;

	for (struct grave *grave; destroyed < most && (grave = take()) != NULL; destroyed++) {
		destroy(grave);
		clear(grave);
	}
	return destroyed;
}

void reprise_graveyard_forget(CUcontext context)
{
	reprise_lock_take(&graveyard_lock);
	for (struct grave **at = &graves; *at != NULL;) {
		struct grave *grave = *at;

		if (context == NULL || grave->context == context) {
			*at = grave->next;
			clear(grave);
		} else {
			at = &grave->next;
		}
	}
	reprise_lock_give(&graveyard_lock);
}

void reprise_graveyard_reset(void)
{
	atomic_store(&graveyard_lock.word, 0);
	graves = NULL;
}
