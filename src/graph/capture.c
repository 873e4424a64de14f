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

static bool describe_kernel(struct reprise_graph_node *node)
{
	CUDA_KERNEL_NODE_PARAMS params;

	if (reprise_driver.cuGraphKernelNodeGetParams_v2 == NULL || reprise_driver.cuGraphExecKernelNodeSetParams_v2 == NULL ||
	    reprise_driver.cuGraphKernelNodeGetParams_v2(node->node, &params) != CUDA_SUCCESS)
		return false;
	node->function = params.func;
	node->kernel = params.kern;
	return params.func != NULL || params.kern != NULL;
}

static CUdeviceptr source_of(const CUDA_MEMCPY3D *node)
{
	return node->srcMemoryType == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)node->srcHost : node->srcDevice;
}

static CUdeviceptr target_of(const CUDA_MEMCPY3D *node)
{
	return node->dstMemoryType == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)node->dstHost : node->dstDevice;
}

/*
 * Only copies of one dimension within a context can be set (cuGraphExecMemcpyNodeSetParams). What the node says has to be what the op says: else we would not
 * know what to set.
 */
static bool describe_copy(const struct reprise_graph_node *node, const struct reprise_op *op)
{
	const struct reprise_call_copy *copy = &op->copy;
	CUDA_MEMCPY3D params;

	return !reprise_op_is_between_devices(op) && reprise_driver.cuGraphExecMemcpyNodeSetParams != NULL && reprise_driver.cuGraphMemcpyNodeGetParams != NULL &&
	       reprise_driver.cuGraphMemcpyNodeGetParams(node->node, &params) == CUDA_SUCCESS && params.Height == 1 && params.Depth == 1 &&
	       params.WidthInBytes == copy->bytes && params.srcXInBytes == 0 && params.dstXInBytes == 0 &&
	       source_of(&params) == copy->source && target_of(&params) == copy->target;
}

/* Address and value of any memset can be set (cuGraphExecMemsetNodeSetParams); its dimensions are its op's shape. */
static bool describe_set(const struct reprise_graph_node *node, const struct reprise_call_set *set)
{
	CUDA_MEMSET_NODE_PARAMS params;

	return reprise_driver.cuGraphExecMemsetNodeSetParams != NULL && reprise_driver.cuGraphMemsetNodeGetParams != NULL &&
	       reprise_driver.cuGraphMemsetNodeGetParams(node->node, &params) == CUDA_SUCCESS && params.elementSize == set->element_bytes &&
	       params.width == set->width && params.height == set->height && params.dst == set->target &&
	       params.value == reprise_set_value(set);
}

static bool describe_node(struct reprise_graph_node *node, const struct reprise_op *op, CUstream stream)
{
	*node = (struct reprise_graph_node){0};
	if (!last_node(stream, &node->node))
		return false;
	node->settable = op->kind == REPRISE_OP_KERNEL ? describe_kernel(node) :
	                 op->kind == REPRISE_OP_COPY   ? describe_copy(node, op) :
	                 op->kind == REPRISE_OP_SET    ? describe_set(node, &op->set) :
	                                                 false;
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
