/* Single nodes of executable graphs: other parameters. A node is named by the one it was
 * instantiated from. */
#include "api.h"
#include "exec.h"
#include "memory_node.h"
#include "params.h"

/* The node of an executable graph that a source node names, if it is of that kind; any kind if
 * `kind` is negative. */
static struct sim_exec_node *find(CUgraphExec handle, CUgraphNode source, int kind)
{
	struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, handle);
	struct sim_node *node = sim_object_of(SIM_A_NODE, source);
	size_t i;

	if (!exec || !node)
		return NULL;
	/* Nodes keep their positions, as a rule. */
	i = node->position < exec->nodes.count && exec->nodes.at[node->position].source == node
	        ? node->position
	        : 0;
	for (; i < exec->nodes.count; i++) {
		struct sim_exec_node *own = &exec->nodes.at[i];

		if (own->source == node && own->serial == node->object.serial)
			return kind < 0 || (int)own->work->kind == kind ? own : NULL;
	}
	return NULL;
}

/* Replaces a node's work; consumes the reference. */
static CUresult replace(struct sim_exec_node *node, struct sim_work *work)
{
	if (sim_exec_may_become(node->work, work) != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
		sim_work_drop(work);
		return CUDA_ERROR_INVALID_VALUE;
	}
	sim_work_drop(node->work);
	node->work = work;
	return CUDA_SUCCESS;
}

/* Gives a node the parameters: of its type, and such as may change in an executable graph. */
static CUresult set(CUgraphExec exec, CUgraphNode source, CUgraphNodeParams *params)
{
	struct sim_exec_node *node = find(exec, source, -1);
	struct sim_work *work;
	CUresult result;

	if (!node || sim_work_node_type(node->work) != params->type)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_params_work(&work, node->source->graph, params, node->work);
	return result == CUDA_SUCCESS ? replace(node, work) : result;
}

API(SIM_CONTEXT, cuGraphExecKernelNodeSetParams_v2,
    (CUgraphExec exec, CUgraphNode source, const CUDA_KERNEL_NODE_PARAMS *params),
    (exec, source, params))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_kernel(params);
	return set(exec, source, &any);
}

static bool is_one_dimensional(const CUDA_MEMCPY3D *shape)
{
	return shape->Height == 1 && shape->Depth == 1;
}

/* "Both the instantiation-time memory operands and the memory operands in copyParams must be
 * 1-dimensional." "Zero-length operations are not supported." */
static CUresult set_copy(CUgraphExec exec, CUgraphNode source, const CUDA_MEMCPY3D *shape,
                         CUcontext context)
{
	const struct sim_exec_node *node = find(exec, source, SIM_COPY);
	CUgraphNodeParams any;

	if (!node || !shape || !is_one_dimensional(shape) ||
	    !is_one_dimensional(&node->work->copy.shape) || shape->WidthInBytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_copy(shape, context);
	return set(exec, source, &any);
}

API(SIM_CONTEXT, cuGraphExecMemcpyNodeSetParams,
    (CUgraphExec exec, CUgraphNode source, const CUDA_MEMCPY3D *shape, CUcontext context),
    (exec, source, shape, context))
{
	return set_copy(exec, source, shape, context);
}

API(SIM_CONTEXT, cuGraphExecMemsetNodeSetParams,
    (CUgraphExec exec, CUgraphNode source, const CUDA_MEMSET_NODE_PARAMS *params,
     CUcontext context),
    (exec, source, params, context))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_set(params, context);
	return set(exec, source, &any);
}

API(SIM_CONTEXT, cuGraphExecHostNodeSetParams,
    (CUgraphExec exec, CUgraphNode source, const CUDA_HOST_NODE_PARAMS *params),
    (exec, source, params))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_host(params);
	return set(exec, source, &any);
}

API(SIM_CONTEXT, cuGraphExecEventRecordNodeSetEvent,
    (CUgraphExec exec, CUgraphNode node, CUevent event), (exec, node, event))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event}};

	return set(exec, node, &any);
}

API(SIM_CONTEXT, cuGraphExecEventWaitNodeSetEvent,
    (CUgraphExec exec, CUgraphNode node, CUevent event), (exec, node, event))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {event}};

	return set(exec, node, &any);
}

API(SIM_CONTEXT, cuGraphExecBatchMemOpNodeSetParams,
    (CUgraphExec exec, CUgraphNode source, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params),
    (exec, source, params))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_batch(params);
	return set(exec, source, &any);
}

/* "As though the nodes contained in hNode's graph had the parameters contained in childGraph's
 * nodes at instantiation." */
static CUresult set_child(CUgraphExec exec, CUgraphNode source, CUgraph handle)
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	struct sim_exec_node *node = find(exec, source, SIM_CHILD);
	struct sim_work *work;

	if (!node || !graph || sim_graph_has_memory(graph))
		return CUDA_ERROR_INVALID_VALUE;
	work = sim_work_new(SIM_CHILD);
	work->child = sim_graph_clone(graph);
	work->child->is_child = true;
	/* Measured: the result is that of a whole-graph update. */
	return replace(node, work) == CUDA_SUCCESS ? CUDA_SUCCESS
	                                           : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

API(SIM_CONTEXT, cuGraphExecChildGraphNodeSetParams,
    (CUgraphExec exec, CUgraphNode node, CUgraph child), (exec, node, child))
{
	return set_child(exec, node, child);
}

/* "Allowed changes to parameters on executable graphs" are those of the call for the type; of
 * memory nodes "API unsupported". */
API(SIM_CONTEXT, cuGraphExecNodeSetParams,
    (CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params), (exec, node, params))
{
	if (!params || !sim_params_are_clean(params))
		return CUDA_ERROR_INVALID_VALUE;
	switch (params->type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return set_copy(exec, node, &params->memcpy.copyParams, params->memcpy.copyCtx);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return set_child(exec, node, params->graph.graph);
	default:
		return set(exec, node, params);
	}
}
