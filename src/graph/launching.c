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

/* False if that is not possible now. */
static bool ask(const struct reprise_graph *graph, const struct reprise_op *op,
                enum reprise_launching *launching)
{
	CUcontext context = graph->capture_streams->context;
	struct reprise_op alone = *op;
	struct reprise_graph one = {.members = 1,
	                            .count = 1,
	                            .ops = &alone,
	                            .capture_streams = graph->capture_streams};
	CUgraph captured;

	alone.member = 0;
	if (!reprise_capture_lock_enter_soon(context, REPRISE_TUNE_CAPTURE_PATIENCE_NS))
		return false;
	captured = reprise_capture(&one, REPRISE_FOR_BUILDING, NULL, NULL, NULL);
	reprise_capture_lock_leave(context);
	*launching = REPRISE_LAUNCHING_ALWAYS;
	if (captured != NULL) {
		*launching = try(captured);
		reprise_driver.cuGraphDestroy(captured);
	}
	reprise_function_note_launching(op->kernel.function, *launching);
	return true;
}

static enum reprise_launching known_of(const struct reprise_op *op)
{
	struct reprise_function known;

	if (op->kind != REPRISE_OP_KERNEL || !op->kernel.may_launch)
		return REPRISE_LAUNCHING_NEVER;
	return reprise_function_known(op->kernel.function, &known)
	           ? (enum reprise_launching)known.launching
	           : REPRISE_LAUNCHING_MAYBE;
}

enum reprise_launching_found reprise_launching_ask(const struct reprise_graph *graph)
{
	enum reprise_launching_found found = REPRISE_LAUNCHING_NONE;

	for (unsigned int i = 0; i < graph->count; i++) {
		enum reprise_launching launching = known_of(&graph->ops[i]);

		if (launching == REPRISE_LAUNCHING_MAYBE && !ask(graph, &graph->ops[i], &launching))
			return REPRISE_LAUNCHING_NOT_NOW;
		if (launching == REPRISE_LAUNCHING_ALWAYS)
			found = REPRISE_LAUNCHING_SOME;
	}
	return found;
}
