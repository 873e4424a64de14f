#include "capture.h"

#include "../base/log.h"
#include "../driver/driver.h"

/* The one node that the stream's next captured call would depend on: what the last call became. */
static bool last_node(CUstream stream, CUgraphNode *node)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	const CUgraphNode *dependencies = NULL;
	size_t count = 0;
	CUresult result;

	if (reprise_driver.cuStreamGetCaptureInfo_v3 != NULL)
		result = reprise_driver.cuStreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &dependencies, NULL, &count);
	else if (reprise_driver.cuStreamGetCaptureInfo_v2 != NULL)
		result = reprise_driver.cuStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &dependencies, &count);
	else
		return false;
	/* A programmatic edge makes version 2 and an absent edge array fail with CUDA_ERROR_LOSSY_QUERY, but list the node. */
	if ((result != CUDA_SUCCESS && result != CUDA_ERROR_LOSSY_QUERY) || status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1 ||
	    dependencies == NULL)
		return false;
	*node = dependencies[0];
	return true;
}

static bool describe_node(struct reprise_graph_node *node, const struct reprise_op *op, CUstream stream)
{
	*node = (struct reprise_graph_node){NULL, NULL, NULL};
	if (!last_node(stream, &node->node))
		return false;
	if (op->kind == REPRISE_OP_KERNEL && reprise_driver.cuGraphKernelNodeGetParams_v2 != NULL) {
		CUDA_KERNEL_NODE_PARAMS params;

		if (reprise_driver.cuGraphKernelNodeGetParams_v2(node->node, &params) == CUDA_SUCCESS) {
			node->function = params.func;
			node->kernel = params.kern;
		}
	}
	return true;
}

CUgraph reprise_capture(CUstream stream, const struct reprise_op *ops, const struct reprise_op *incoming, const uint64_t *changed,
                        unsigned int count, struct reprise_graph_node *nodes)
{
	CUresult result = reprise_driver.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
	CUgraph graph = NULL;
	size_t captured = 0;
	bool whole = true;

	if (result != CUDA_SUCCESS)
		return NULL;
	for (unsigned int i = 0; result == CUDA_SUCCESS && i < count; i++) {
		const struct reprise_op *op = changed != NULL && reprise_bit(changed, i) ? &incoming[i] : &ops[i];

		result = reprise_op_issue(op, stream);
		if (result == CUDA_SUCCESS && nodes != NULL && whole)
			whole = describe_node(&nodes[i], op, stream);
	}

	CUresult ended = reprise_driver.cuStreamEndCapture(stream, &graph);

	if (ended == CUDA_SUCCESS && graph != NULL && reprise_driver.cuGraphGetNodes(graph, NULL, &captured) != CUDA_SUCCESS)
		captured = 0;
	if (result == CUDA_SUCCESS && ended == CUDA_SUCCESS && whole && captured == count)
		return graph;
	reprise_log(REPRISE_LOG_INFO, "a capture of %u ops was given up: issue %d, end %d, %zu nodes", count, (int)result, (int)ended,
	            captured);
	if (ended == CUDA_SUCCESS && graph != NULL)
		reprise_driver.cuGraphDestroy(graph);
	return NULL;
}
