/*
 * Executable graphs that nobody launches any more, until their last launch has finished: each waits behind an event that was recorded
 * on its stream when it was given up.
 */
#include <stdlib.h>

#include "../base/lock.h"
#include "../driver/driver.h"
#include "../report/counters.h"
#include "graph.h"

struct grave {
	struct grave *next;
	CUcontext context;
	CUgraph graph;
	CUgraphExec executable;
	CUevent settled;
};

static struct reprise_lock graveyard_lock;
static struct grave *graves;

static bool bury(struct reprise_graph *graph, CUstream stream)
{
	struct grave *grave = malloc(sizeof(*grave));

	if (grave == NULL)
		return false;
	*grave = (struct grave){NULL, graph->workshop->context, graph->graph, graph->executable, NULL};
	if (reprise_driver.cuEventCreate(&grave->settled, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
		free(grave);
		return false;
	}
	if (reprise_driver.cuEventRecord(grave->settled, stream) != CUDA_SUCCESS) {
		reprise_driver.cuEventDestroy_v2(grave->settled);
		free(grave);
		return false;
	}
	reprise_lock_take(&graveyard_lock);
	grave->next = graves;
	graves = grave;
	reprise_lock_give(&graveyard_lock);
	return true;
}

void reprise_graph_retire(struct reprise_graph *graph, CUstream stream)
{
	/* Without an event nobody knows when it has settled: leaving it to the context is safe, destroying it might not be. */
	if (graph->executable != NULL)
		(void)bury(graph, stream);
	graph->executable = NULL;
	graph->graph = NULL;
	atomic_store(&graph->state, REPRISE_GRAPH_EMPTY);
}

void reprise_graveyard_sweep(void)
{
	reprise_lock_take(&graveyard_lock);

	struct grave *all = graves, *kept = NULL;

	graves = NULL;
	reprise_lock_give(&graveyard_lock);
	while (all != NULL) {
		struct grave *grave = all;

		all = grave->next;
		if (reprise_driver.cuCtxSetCurrent(grave->context) != CUDA_SUCCESS) {
			free(grave);
		} else if (reprise_driver.cuEventQuery(grave->settled) == CUDA_SUCCESS) {
			reprise_driver.cuGraphExecDestroy(grave->executable);
			reprise_driver.cuGraphDestroy(grave->graph);
			reprise_driver.cuEventDestroy_v2(grave->settled);
			reprise_count(REPRISE_COUNT_graphs_destroyed, 1);
			free(grave);
		} else {
			grave->next = kept;
			kept = grave;
		}
	}
	reprise_lock_take(&graveyard_lock);
	while (kept != NULL) {
		struct grave *grave = kept;

		kept = grave->next;
		grave->next = graves;
		graves = grave;
	}
	reprise_lock_give(&graveyard_lock);
}

void reprise_graveyard_forget(CUcontext context)
{
	reprise_lock_take(&graveyard_lock);
	for (struct grave **at = &graves; *at != NULL;) {
		struct grave *grave = *at;

		if (context == NULL || grave->context == context) {
			*at = grave->next;
			free(grave);
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
