#include "graph/capture.h"

#include "base/log.h"
#include "driver/driver.h"

/* The node of the last captured call: the only one that the stream's next call would depend on. */
static bool last_node(CUstream stream, CUgraphNode *node)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	const CUgraphNode *dependencies = NULL;
	size_t count = 0;
	CUresult result;

	if (reprise_driver.cuStreamGetCaptureInfo_v3 != NULL)
		result = reprise_driver.cuStreamGetCaptureInfo_v3(stream, &status, NULL, NULL,
		                                                  &dependencies, NULL, &count);
	else if (reprise_driver.cuStreamGetCaptureInfo_v2 != NULL)
		result = reprise_driver.cuStreamGetCaptureInfo_v2(stream, &status, NULL, NULL,
		                                                  &dependencies, &count);
	else
		return false;
	/* With a programmatic edge, version 2 and a missing edge array fail with
	 * CUDA_ERROR_LOSSY_QUERY, but still list the node. */
	if ((result != CUDA_SUCCESS && result != CUDA_ERROR_LOSSY_QUERY) ||
	    status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1 || dependencies == NULL)
		return false;
	*node = dependencies[0];
	return true;
}

static bool describe_kernel(struct reprise_graph_node *node)
{
	CUDA_KERNEL_NODE_PARAMS params;

	if (reprise_driver.cuGraphKernelNodeGetParams_v2 == NULL ||
	    reprise_driver.cuGraphExecKernelNodeSetParams_v2 == NULL ||
	    reprise_driver.cuGraphKernelNodeGetParams_v2(node->node, &params) != CUDA_SUCCESS)
		return false;
	node->function = params.func;
	node->kernel = params.kern;
	return params.func != NULL || params.kern != NULL;
}

static CUdeviceptr source_of(const CUDA_MEMCPY3D *node)
{
	return node->srcMemoryType == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)node->srcHost
	                                                 : node->srcDevice;
}

static CUdeviceptr target_of(const CUDA_MEMCPY3D *node)
{
	return node->dstMemoryType == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)node->dstHost
	                                                 : node->dstDevice;
}

/* cuGraphExecMemcpyNodeSetParams takes only copies of one dimension within a context. The node must
 * say what the op says: otherwise it is unknown what to set. */
static bool describe_copy(const struct reprise_graph_node *node, const struct reprise_op *op)
{
	const struct reprise_call_copy *copy = &op->copy;
	CUDA_MEMCPY3D params;

	return !reprise_op_is_between_devices(op) &&
	       reprise_driver.cuGraphExecMemcpyNodeSetParams != NULL &&
	       reprise_driver.cuGraphMemcpyNodeGetParams != NULL &&
	       reprise_driver.cuGraphMemcpyNodeGetParams(node->node, &params) == CUDA_SUCCESS &&
	       params.Height == 1 && params.Depth == 1 && params.WidthInBytes == copy->bytes &&
	       params.srcXInBytes == 0 && params.dstXInBytes == 0 &&
	       source_of(&params) == copy->source && target_of(&params) == copy->target;
}

/* cuGraphExecMemsetNodeSetParams takes any address and value; the dimensions are the op's shape. */
static bool describe_set(const struct reprise_graph_node *node, const struct reprise_call_set *set)
{
	CUDA_MEMSET_NODE_PARAMS params;

	return reprise_driver.cuGraphExecMemsetNodeSetParams != NULL &&
	       reprise_driver.cuGraphMemsetNodeGetParams != NULL &&
	       reprise_driver.cuGraphMemsetNodeGetParams(node->node, &params) == CUDA_SUCCESS &&
	       params.elementSize == set->element_bytes && params.width == set->width &&
	       params.height == set->height && params.dst == set->target &&
	       params.value == reprise_set_value(set);
}

static bool describe_node(struct reprise_graph_node *node, const struct reprise_op *op,
                          CUstream stream)
{
	*node = (struct reprise_graph_node){0};
	if (op->kind == REPRISE_OP_WAIT)
		return true; /* edges, no node */
	if (!last_node(stream, &node->node))
		return false;
	node->settable = op->kind == REPRISE_OP_KERNEL ? describe_kernel(node)
	                 : op->kind == REPRISE_OP_COPY ? describe_copy(node, op)
	                 : op->kind == REPRISE_OP_SET  ? describe_set(node, &op->set)
	                 : op->kind == REPRISE_OP_HOST
	                     ? reprise_driver.cuGraphExecHostNodeSetParams != NULL
	                     : false;
	return true;
}

/* ---- forks ---- */

/* A capture in progress: the program's events recorded so far, each with an event of Reprise's. */
struct fork {
	const struct reprise_graph *graph;
	enum reprise_side side;
	CUevent recorded[REPRISE_FORK_EVENTS_MOST];
	unsigned int count;
};

/* Where the event is among those recorded so far; their number if it is not. */
static unsigned int place_of(const struct fork *fork, CUevent event)
{
	unsigned int i = 0;

	while (i < fork->count && fork->recorded[i] != event)
		i++;
	return i;
}

/* Reprise's event for the program's event; the next free one if it was not recorded here yet. NULL
 * if there are too many. */
static CUevent edge_of(struct fork *fork, CUevent event)
{
	unsigned int i = place_of(fork, event);

	if (i == REPRISE_FORK_EVENTS_MOST)
		return NULL;
	fork->recorded[i] = event;
	fork->count += i == fork->count;
	return fork->graph->capture_streams->forks->edges[fork->side][i];
}

/* The node comes first: waits for the event come after the record in the program, too. */
static CUresult capture_record(struct fork *fork, CUevent event, CUstream stream)
{
	CUresult result =
		reprise_driver.cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL);

	return result != CUDA_SUCCESS ? result
	                              : reprise_driver.cuEventRecord(edge_of(fork, event), stream);
}

static CUresult capture_op(struct fork *fork, const struct reprise_op *op, CUstream stream)
{
	switch (op->kind) {
	case REPRISE_OP_RECORD:
		return capture_record(fork, op->event, stream);
	case REPRISE_OP_WAIT:
		if (fork->graph->beside && place_of(fork, op->event) == fork->count)
			return CUDA_SUCCESS; /* the graph begins behind it */
		return reprise_driver.cuStreamWaitEvent(stream, edge_of(fork, op->event),
		                                        CU_EVENT_WAIT_DEFAULT);
	default:
		return reprise_op_capture(op, stream);
	}
}

/* Roots begin where the graph begins. */
static CUresult begin_roots(const struct fork *fork, CUstream first)
{
	const struct reprise_graph *graph = fork->graph;
	CUevent edge;
	CUresult result;

	if (graph->roots == 0)
		return CUDA_SUCCESS;
	edge = graph->capture_streams->forks->edges[fork->side][REPRISE_FORK_EVENTS_MOST];
	result = reprise_driver.cuEventRecord(edge, first);
	for (unsigned int member = 0; result == CUDA_SUCCESS && member < REPRISE_MEMBERS_MOST; member++)
		if ((graph->roots >> member & 1) != 0 && member != graph->ops[0].member)
			result =
				reprise_driver.cuStreamWaitEvent(reprise_capture_streams_of(graph->capture_streams,
			                                                                fork->side, member),
			                                     edge, CU_EVENT_WAIT_DEFAULT);
	return result;
}

/* Ends all branches but the first, and joins them to it: a capture must end in the stream where it
 * began. */
static CUresult join_branches(const struct fork *fork, CUstream first)
{
	const struct reprise_graph *graph = fork->graph;
	const struct reprise_forks *forks = graph->capture_streams->forks;
	CUevent edge = forks != NULL ? forks->edges[fork->side][REPRISE_FORK_EVENTS_MOST] : NULL;
	CUresult result = CUDA_SUCCESS;

	if (graph->beside)
		result = reprise_driver.cuEventRecordWithFlags(forks->branch_ends[graph->ops[0].member],
		                                               first, CU_EVENT_RECORD_EXTERNAL);
	for (unsigned int member = 0; result == CUDA_SUCCESS && member < REPRISE_MEMBERS_MOST;
	     member++) {
		CUstream stream;

		if ((graph->members >> member & 1) == 0 || member == graph->ops[0].member)
			continue;
		stream = reprise_capture_streams_of(graph->capture_streams, fork->side, member);
		result = reprise_driver.cuEventRecordWithFlags(forks->branch_ends[member], stream,
		                                               CU_EVENT_RECORD_EXTERNAL);
		if (result == CUDA_SUCCESS)
			result = reprise_driver.cuEventRecord(edge, stream);
		if (result == CUDA_SUCCESS)
			result = reprise_driver.cuStreamWaitEvent(first, edge, CU_EVENT_WAIT_DEFAULT);
	}
	return result;
}

static unsigned int count_nodes(const struct reprise_graph *graph)
{
	unsigned int count =
		graph->count + (unsigned int)__builtin_popcount(graph->members) - !graph->beside;

	for (unsigned int i = 0; i < graph->count; i++)
		count -= graph->ops[i].kind == REPRISE_OP_WAIT;
	return count;
}

/* A capture that stays open makes calls of the program's fail that wait for the context. So its end
 * is asked for a second time where it was refused, unless the driver says that there is none. */
static CUresult end_capture(CUstream first, CUgraph *captured)
{
	CUresult result = reprise_driver.cuStreamEndCapture(first, captured);

	if (result != CUDA_SUCCESS && result != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
		result = reprise_driver.cuStreamEndCapture(first, captured);
	return result;
}

CUgraph reprise_capture(const struct reprise_graph *graph, enum reprise_side side,
                        const struct reprise_op *incoming, const uint64_t *changed,
                        struct reprise_graph_node *nodes)
{
	struct fork fork = {.graph = graph, .side = side};
	CUstream first = reprise_capture_streams_of(graph->capture_streams, side, graph->ops[0].member);
	CUresult result = reprise_driver.cuStreamBeginCapture_v2(first, CU_STREAM_CAPTURE_MODE_RELAXED);
	CUgraph captured = NULL;
	size_t count = 0;
	bool whole = true;

	if (result != CUDA_SUCCESS)
		return NULL;
	result = begin_roots(&fork, first);
	for (unsigned int i = 0; result == CUDA_SUCCESS && i < graph->count; i++) {
		const struct reprise_op *op =
			changed != NULL && reprise_bit(changed, i) ? &incoming[i] : &graph->ops[i];
		CUstream stream = reprise_capture_streams_of(graph->capture_streams, side, op->member);
		struct reprise_op within;

		if (side == REPRISE_FOR_BUILDING && reprise_op_exceeds_limit(op)) {
			within = *op;
			within.kernel.shared_bytes = op->kernel.shared_most;
			op = &within;
		}
		result = capture_op(&fork, op, stream);
		if (result == CUDA_SUCCESS && nodes != NULL && whole)
			whole = describe_node(&nodes[i], op, stream);
	}
	if (result == CUDA_SUCCESS)
		result = join_branches(&fork, first);

	CUresult ended = end_capture(first, &captured);

	if (ended == CUDA_SUCCESS && captured != NULL &&
	    reprise_driver.cuGraphGetNodes(captured, NULL, &count) != CUDA_SUCCESS)
		count = 0;
	if (result == CUDA_SUCCESS && ended == CUDA_SUCCESS && whole && count == count_nodes(graph))
		return captured;
	reprise_log(
		REPRISE_LOG_INFO,
		"a capture of %u launches was given up: launching returned %d, ending it %d, nodes: %zu",
		graph->count, (int)result, (int)ended, count);
	if (ended == CUDA_SUCCESS && captured != NULL)
		reprise_driver.cuGraphDestroy(captured);
	return NULL;
}
