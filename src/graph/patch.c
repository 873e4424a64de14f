/*
 * Patching: an executable graph is brought to this visit's values by setting the nodes that differ, where all of them are
 * kernels, or else by capturing the visit's ops anew and updating the whole graph with the capture.
 *
 * Costs on an H200 (docs/design.md): 0.4-0.8 us for a single node; 0.45-0.8 us to capture a node, 0.03 us to compare one
 * that did not change, up to 0.7 us to update one that did.
 *
 * Whole-graph update pairs nodes by the order of their capture (cuGraphExecUpdate), so both captures are made from the same
 * ops in the same order.
 */
#include <stddef.h>

#include "../base/log.h"
#include "../driver/driver.h"
#include "../report/counters.h"
#include "capture.h"
#include "exclusion.h"

static bool set_node(struct reprise_graph *graph, const struct reprise_op *op, unsigned int i)
{
	void *pointers[reprise_op_params(op)];
	const struct reprise_op_kernel *kernel = &op->kernel;
	CUDA_KERNEL_NODE_PARAMS params = {
		.func = graph->nodes[i].function,
		.kern = graph->nodes[i].kernel,
		.gridDimX = kernel->grid[0],
		.gridDimY = kernel->grid[1],
		.gridDimZ = kernel->grid[2],
		.blockDimX = kernel->block[0],
		.blockDimY = kernel->block[1],
		.blockDimZ = kernel->block[2],
		.sharedMemBytes = kernel->shared_bytes,
		.kernelParams = reprise_op_kernel_params(op, pointers),
	};

	return reprise_driver.cuGraphExecKernelNodeSetParams_v2(graph->executable, graph->nodes[i].node, &params) == CUDA_SUCCESS;
}

/* Nodes that can be set one by one: kernels whose node the driver has described. */
static bool settable(const struct reprise_graph *graph, unsigned int i)
{
	return graph->ops[i].kind == REPRISE_OP_KERNEL && (graph->nodes[i].function != NULL || graph->nodes[i].kernel != NULL);
}

static bool set_changed_nodes(struct reprise_graph *graph, const struct reprise_op *incoming, const uint64_t *changed)
{
	unsigned int set = 0;

	for (unsigned int i = 0; i < graph->count; i++)
		if (reprise_bit(changed, i) && !settable(graph, i))
			return false;
	for (unsigned int i = 0; i < graph->count; i++) {
		if (!reprise_bit(changed, i))
			continue;
		if (!set_node(graph, &incoming[i], i)) {
			graph->mixed = set > 0;
			reprise_count(REPRISE_COUNT_node_updates_failed, 1);
			return false;
		}
		set++;
	}
	reprise_count(REPRISE_COUNT_node_updates, set);
	return true;
}

static enum reprise_patch update_whole(struct reprise_graph *graph, const struct reprise_op *incoming, const uint64_t *changed)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUgraphExecUpdateResultInfo info = {0};
	struct reprise_workshop *workshop = graph->workshop;
	CUgraph captured = NULL;
	CUresult result = CUDA_ERROR_UNKNOWN;

	if (reprise_driver.cuGraphExecUpdate_v2 == NULL)
		return REPRISE_PATCH_REFUSED;
	if (!reprise_capture_enter())
		return REPRISE_PATCH_NOT_NOW;
	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	if (reprise_workshop_open(workshop, &workshop->for_patching))
		captured = reprise_capture(workshop->for_patching, graph->ops, incoming, changed, graph->count, NULL);
	reprise_capture_leave();
	if (captured != NULL) {
		result = reprise_driver.cuGraphExecUpdate_v2(graph->executable, captured, &info);
		reprise_driver.cuGraphDestroy(captured);
	}
	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	if (captured == NULL) {
		reprise_count(REPRISE_COUNT_updates_failed, 1);
		return REPRISE_PATCH_REFUSED;
	}
	if (result != CUDA_SUCCESS) {
		reprise_count(REPRISE_COUNT_updates_refused, 1);
		reprise_log(REPRISE_LOG_INFO, "an update of %u nodes was refused: error %d, reason %d", graph->count, (int)result,
		            (int)info.result);
		return REPRISE_PATCH_REFUSED;
	}
	graph->mixed = false;
	reprise_count(REPRISE_COUNT_updates, 1);
	return REPRISE_PATCH_DONE;
}

enum reprise_patch reprise_graph_patch(struct reprise_graph *graph, const struct reprise_op *incoming, const uint64_t *changed)
{
	if (!graph->mixed && reprise_driver.cuGraphExecKernelNodeSetParams_v2 != NULL &&
	    set_changed_nodes(graph, incoming, changed))
		return REPRISE_PATCH_DONE;
	return update_whole(graph, incoming, changed);
}
