#include "graph/make.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "timeline/timeline.h"
#include "graph/capture.h"
#include "graph/capture_lock.h"
#include "graph/launching.h"
#include "graph/neighbours.h"
#include "graph/shadow.h"

static bool any_op(const struct reprise_graph *graph, bool (*is)(const struct reprise_op *op))
{
	for (unsigned int i = 0; i < graph->count; i++)
		if (is(&graph->ops[i]))
			return true;
	return false;
}

/* A graph runs with the priority of the stream that it is launched into, unless it is instantiated
 * to use its nodes' priorities. */
static unsigned int flags_for(const struct reprise_graph *graph)
{
	return any_op(graph, reprise_op_has_priority) ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
	                                              : 0;
}

/* Begins one call of the driver. */
struct step {
	uint64_t ns, ticks; /* ticks: for the timeline */
};

static struct step begin_step(void)
{
	return (struct step){reprise_clock_ns(), reprise_timeline_begin()};
}

/* Ends it. */
static void end_step(const struct reprise_graph *graph, struct step step,
                     enum reprise_counter longest, enum reprise_timeline_kind kind)
{
	reprise_count_most(longest, reprise_clock_ns() - step.ns);
	reprise_timeline_end(kind, step.ticks,
	                     (struct reprise_timeline_about){.lane = REPRISE_TIMELINE_NO_LANE,
	                                                     .graph = graph->number,
	                                                     .ops = graph->count});
}

static bool instantiate(struct reprise_graph *graph)
{
	struct step step = begin_step();
	CUgraphExec executable = NULL;
	CUresult result =
		reprise_driver.cuGraphInstantiateWithFlags(&executable, graph->graph, flags_for(graph));

	end_step(graph, step, REPRISE_COUNT_instantiate_longest_ns, REPRISE_TIMELINE_INSTANTIATE);
	if (result == CUDA_SUCCESS)
		graph->executable = executable;
	return result == CUDA_SUCCESS;
}

static bool upload(const struct reprise_graph *graph)
{
	struct step step = begin_step();
	CUstream through = reprise_capture_streams_of(graph->capture_streams, REPRISE_FOR_BUILDING,
	                                              graph->ops[0].member);
	CUresult result = reprise_driver.cuGraphUpload(graph->executable, through);

	end_step(graph, step, REPRISE_COUNT_upload_longest_ns, REPRISE_TIMELINE_UPLOAD);
	return result == CUDA_SUCCESS;
}

static bool capture(struct reprise_graph *graph)
{
	struct step step = begin_step();

	graph->mixed = any_op(graph, reprise_op_exceeds_limit);
	graph->graph = reprise_capture(graph, REPRISE_FOR_BUILDING, NULL, NULL, graph->nodes);
	end_step(graph, step, REPRISE_COUNT_capture_longest_ns, REPRISE_TIMELINE_CAPTURE);
	return graph->graph != NULL;
}

static enum reprise_graph_state failed(enum reprise_counter counter)
{
	reprise_count(counter, 1);
	return REPRISE_GRAPH_FAILED;
}

static void unmake(struct reprise_graph *graph)
{
	if (graph->executable != NULL)
		reprise_driver.cuGraphExecDestroy(graph->executable);
	if (graph->graph != NULL)
		reprise_driver.cuGraphDestroy(graph->graph);
	free(graph->reclaim);
	graph->executable = NULL;
	graph->graph = NULL;
	graph->reclaim = NULL;
}

enum reprise_graph_state reprise_make(struct reprise_graph *graph)
{
	static uint32_t numbers;
	bool captured;

	if (graph->count == 1 && !reprise_neighbours_none(graph->capture_streams->context))
		return failed(REPRISE_COUNT_build_failed_neighbours);
	if (graph->number == 0)
		graph->number = ++numbers;
	if (!reprise_capture_streams_open(graph))
		return REPRISE_GRAPH_FAILED;
	switch (reprise_launching_ask(graph)) {
	case REPRISE_LAUNCHING_NOT_NOW:
		return REPRISE_GRAPH_QUEUED;
	case REPRISE_LAUNCHING_SOME:
		return REPRISE_GRAPH_FAILED; /* launches of that kernel are no ops any more */
	case REPRISE_LAUNCHING_NONE:
		break;
	}
	if (!reprise_capture_lock_enter_soon(graph->capture_streams->context,
	                                     REPRISE_TUNE_CAPTURE_PATIENCE_NS))
		return REPRISE_GRAPH_QUEUED;
	captured = capture(graph);
	reprise_capture_lock_leave(graph->capture_streams->context);
	if (!captured)
		return failed(REPRISE_COUNT_build_failed_capture);
	if (instantiate(graph))
		return REPRISE_GRAPH_READY;
	unmake(graph);
	return failed(REPRISE_COUNT_build_failed_instantiate);
}

enum reprise_graph_state reprise_make_ready(struct reprise_graph *graph)
{
	graph->reclaim = reprise_reclaim_new();
	if (graph->reclaim == NULL || !upload(graph)) {
		unmake(graph);
		return failed(REPRISE_COUNT_build_failed_instantiate);
	}
	reprise_shadow_read(graph, graph->nodes);
	reprise_count(REPRISE_COUNT_graphs_built, 1);
	reprise_count(REPRISE_COUNT_graph_nodes, graph->count);
	return REPRISE_GRAPH_READY;
}
