/* What node parameters mean: from each type's to the work that a node of it has. */
#include "api.h"
#include "batch.h"
#include "context.h"
#include "event.h"
#include "graph.h"
#include "kernel_work.h"
#include "memory_node.h"

static CUresult kernel(struct sim_work **made, const CUDA_KERNEL_NODE_PARAMS_v3 *params,
                       const struct sim_work *old)
{
	struct sim_dim grid = {params->gridDimX, params->gridDimY, params->gridDimZ};
	struct sim_dim block = {params->blockDimX, params->blockDimY, params->blockDimZ};
	CUfunction function = params->func ? params->func : (CUfunction)params->kern;

	if (params->func && !sim_object_of(SIM_A_FUNCTION, params->func))
		return CUDA_ERROR_INVALID_HANDLE;
	return sim_work_kernel(made, function, grid, block, params->sharedMemBytes,
	                       params->kernelParams, params->extra, old ? old->kernel.attributes : NULL,
	                       old ? old->kernel.attribute_count : 0);
}

/* "Zero sized operations are not supported." */
static CUresult copy(struct sim_work **made, const CUDA_MEMCPY_NODE_PARAMS *params)
{
	struct sim_context *context = sim_context_of(params->copyCtx);
	CUresult result;

	if (!context || params->flags || params->reserved)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_work_copy(made, &params->copyParams, false);
	if (result == CUDA_SUCCESS)
		(*made)->context = context;
	return result;
}

static CUresult set(struct sim_work **made, const CUDA_MEMSET_NODE_PARAMS_v2 *params)
{
	struct sim_set_work shape = {params->dst,   params->height == 1 ? 0 : params->pitch,
	                             params->width, params->height,
	                             params->value, params->elementSize};
	struct sim_context *context = sim_context_of(params->ctx);
	CUresult result;

	if (!context || !params->width || !params->height)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_work_set(made, &shape, true);
	if (result == CUDA_SUCCESS)
		(*made)->context = context;
	return result;
}

static CUresult host(struct sim_work **made, const CUDA_HOST_NODE_PARAMS_v2 *params)
{
	if (!params->fn)
		return CUDA_ERROR_INVALID_VALUE;
	*made = sim_work_new(SIM_HOST);
	(*made)->host.function = params->fn;
	(*made)->host.data = params->userData;
	return CUDA_SUCCESS;
}

static CUresult event(struct sim_work **made, enum sim_work_kind kind, CUevent handle)
{
	struct sim_event *own = sim_object_of(SIM_AN_EVENT, handle);

	if (!own)
		return CUDA_ERROR_INVALID_VALUE;
	*made = sim_work_new(kind);
	sim_event_name(*made, own);
	return CUDA_SUCCESS;
}

/*
 * "The child graph is cloned in this call", or, with CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, becomes
 * the node's; only then may it have memory nodes. "Cannot be added as a child graph of a separate
 * parent graph" once it has been moved.
 */
static CUresult child(struct sim_work **made, const struct sim_graph *graph,
                      CUDA_CHILD_GRAPH_NODE_PARAMS *params)
{
	struct sim_graph *original = sim_object_of(SIM_A_GRAPH, params->graph);
	bool moves = params->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;

	if (!original || (!moves && params->ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE))
		return CUDA_ERROR_INVALID_VALUE;
	if (original->is_moved || (!moves && sim_graph_has_memory(original)))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (moves && (original->is_child || original == graph || original->executable))
		return CUDA_ERROR_INVALID_VALUE;
	*made = sim_work_new(SIM_CHILD);
	(*made)->child = moves ? original : sim_graph_clone(original);
	(*made)->child->is_child = true;
	(*made)->child->is_moved = moves;
	return CUDA_SUCCESS;
}

/* Measured: the current context is not meant if none is named, and there may be no operations. */
static CUresult batch(struct sim_work **made, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params)
{
	struct sim_context *context = sim_context_of(params->ctx);

	if (!params->ctx || !context)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_work_batch(made, context, params->count, params->paramArray, params->flags);
}

CUresult sim_params_work(struct sim_work **made, struct sim_graph *graph, CUgraphNodeParams *params,
                         const struct sim_work *old)
{
	switch (params->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return kernel(made, &params->kernel, old);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return copy(made, &params->memcpy);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return set(made, &params->memset);
	case CU_GRAPH_NODE_TYPE_HOST:
		return host(made, &params->host);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return event(made, SIM_RECORD, params->eventRecord.event);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return event(made, SIM_WAIT, params->eventWait.event);
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return batch(made, &params->memOp);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		*made = sim_work_new(SIM_EMPTY);
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return old ? CUDA_ERROR_NOT_SUPPORTED : child(made, graph, &params->graph);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return old ? CUDA_ERROR_NOT_SUPPORTED : sim_memory_node_alloc(made, graph, &params->alloc);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return old ? CUDA_ERROR_NOT_SUPPORTED
		           : sim_memory_node_free(made, graph, params->free.dptr);
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return CUDA_ERROR_NOT_SUPPORTED;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* "All unused bytes - that is, reserved0 and all bytes past the utilized union member - must be set
 * to zero." */
bool sim_params_are_clean(const CUgraphNodeParams *params)
{
	static const struct {
		CUgraphNodeType type;
		size_t bytes;
	} sizes[] = {
		{CU_GRAPH_NODE_TYPE_KERNEL, sizeof(params->kernel)},
		{CU_GRAPH_NODE_TYPE_MEMCPY, sizeof(params->memcpy)},
		{CU_GRAPH_NODE_TYPE_MEMSET, sizeof(params->memset)},
		{CU_GRAPH_NODE_TYPE_HOST, sizeof(params->host)},
		{CU_GRAPH_NODE_TYPE_GRAPH, sizeof(params->graph)},
		{CU_GRAPH_NODE_TYPE_EMPTY, 0},
		{CU_GRAPH_NODE_TYPE_WAIT_EVENT, sizeof(params->eventWait)},
		{CU_GRAPH_NODE_TYPE_EVENT_RECORD, sizeof(params->eventRecord)},
		{CU_GRAPH_NODE_TYPE_MEM_ALLOC, sizeof(params->alloc)},
		{CU_GRAPH_NODE_TYPE_MEM_FREE, sizeof(params->free)},
		{CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, sizeof(params->memOp)},
	};
	const unsigned char *bytes = (const unsigned char *)params->reserved1;
	size_t i, j;

	if (params->reserved0[0] || params->reserved0[1] || params->reserved0[2] || params->reserved2)
		return false;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (j = sizes[i].bytes; sizes[i].type == params->type && j < sizeof(params->reserved1);
		     j++)
			if (bytes[j])
				return false;
	return true;
}
