#include "graph/launching.h"

#include <stddef.h>

#include "base/tuning.h"
#include "driver/driver.h"
#include "op/function.h"
#include "graph/capture.h"
#include "graph/capture_lock.h"

/* The kernel alone, as a graph that may be launched from the device. */
static enum reprise_launching try(CUgraph captured)
{
	CUgraphExec executable = NULL;
	CUresult result =
		reprise_driver.cuGraphInstantiateWithFlags(&executable, captured,
	                                               CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);

	if (result == CUDA_SUCCESS)
		reprise_driver.cuGraphExecDestroy(executable);
	return result == CUDA_SUCCESS ? REPRISE_LAUNCHING_NEVER : REPRISE_LAUNCHING_ALWAYS;
}

/* NOT_NOW, or what was found of the op. */
static enum reprise_launching_found ask(const struct reprise_graph *graph,
                                        const struct reprise_op *op)
{
	CUcontext context = graph->capture_streams->context;
	struct reprise_op alone = *op;
	struct reprise_graph one = {.members = 1,
	                            .count = 1,
	                            .ops = &alone,
	                            .capture_streams = graph->capture_streams};
	enum reprise_launching launching = REPRISE_LAUNCHING_ALWAYS;
	CUgraph captured;

	alone.member = 0;
	if (!reprise_capture_lock_enter_soon(context, REPRISE_TUNE_CAPTURE_PATIENCE_NS))
		return REPRISE_LAUNCHING_NOT_NOW;
	captured = reprise_capture(&one, REPRISE_FOR_BUILDING, NULL, NULL, NULL);
	reprise_capture_lock_leave(context);
	if (captured != NULL) {
		launching = try(captured);
		reprise_driver.cuGraphDestroy(captured);
	}
	reprise_function_note_launching(op->kernel.function, launching);
	return launching == REPRISE_LAUNCHING_NEVER ? REPRISE_LAUNCHING_NONE : REPRISE_LAUNCHING_SOME;
}

static bool is_unknown(const struct reprise_op *op)
{
	struct reprise_function known;

	return op->kind == REPRISE_OP_KERNEL && op->kernel.may_launch &&
	       (!reprise_function_known(op->kernel.function, &known) ||
	        known.launching == REPRISE_LAUNCHING_MAYBE);
}

static bool launches(const struct reprise_op *op)
{
	struct reprise_function known;

	return op->kind == REPRISE_OP_KERNEL && op->kernel.may_launch &&
	       reprise_function_known(op->kernel.function, &known) &&
	       known.launching == REPRISE_LAUNCHING_ALWAYS;
}

enum reprise_launching_found reprise_launching_ask(const struct reprise_graph *graph)
{
	enum reprise_launching_found found = REPRISE_LAUNCHING_NONE;

	for (unsigned int i = 0; i < graph->count; i++) {
		const struct reprise_op *op = &graph->ops[i];
		enum reprise_launching_found of_op = REPRISE_LAUNCHING_NONE;

		if (is_unknown(op))
			of_op = ask(graph, op);
		else if (launches(op))
			of_op = REPRISE_LAUNCHING_SOME;
		if (of_op == REPRISE_LAUNCHING_NOT_NOW)
			return of_op;
		if (of_op == REPRISE_LAUNCHING_SOME)
			found = of_op;
	}
	return found;
}
