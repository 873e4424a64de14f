/* Graph nodes: making them explicitly, reading and setting their parameters. */
#include "api.h"
#include "context.h"
#include "event.h"
#include "graph.h"
#include "kernel_work.h"
#include "stream.h"

CUresult sim_node_kernel(struct sim_work **made, const CUDA_KERNEL_NODE_PARAMS *params, const struct sim_work *from)
{
	struct sim_dim grid = {params->gridDimX, params->gridDimY, params->gridDimZ};
	struct sim_dim block = {params->blockDimX, params->blockDimY, params->blockDimZ};
	CUfunction function = params->func ? params->func : (CUfunction)params->kern;

	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	if (params->func && !sim_object_of(SIM_A_FUNCTION, params->func))
		return CUDA_ERROR_INVALID_HANDLE;
	return sim_work_kernel(made, function, grid, block, params->sharedMemBytes, params->kernelParams, params->extra,
		from ? from->kernel.attributes : NULL, from ? from->kernel.attribute_count : 0);
}

CUresult sim_node_memset(struct sim_work **made, const CUDA_MEMSET_NODE_PARAMS *params)
{
	struct sim_set_work set = {params->dst, params->pitch, params->width, params->height, params->value, params->elementSize};

	if (!params->width || !params->height)
		return CUDA_ERROR_INVALID_VALUE;
	if (set.height == 1)
		set.pitch = 0;
	return sim_work_set(made, &set);
}

/* Adds a node with the work, whose reference is consumed. */
static CUresult add(CUgraphNode *made, CUgraph handle, const CUgraphNode *before, size_t count, struct sim_work *work)
{
	struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	CUresult result = CUDA_SUCCESS;
	size_t i;

	if (!made || !graph || (count && !before))
		result = CUDA_ERROR_INVALID_VALUE;
	for (i = 0; result == CUDA_SUCCESS && i < count; i++) {
		const struct sim_node *node = sim_object_of(SIM_A_NODE, before[i]);

		if (!node || node->graph != graph)
			result = CUDA_ERROR_INVALID_VALUE;
	}
	if (result == CUDA_SUCCESS)
		*made = (CUgraphNode)sim_graph_add(graph, work, (struct sim_node *const *)before, count);
	sim_work_drop(work);
	return result;
}

/* The node behind a handle if it is of that kind. */
static struct sim_node *node_of(CUgraphNode handle, enum sim_work_kind kind)
{
	struct sim_node *node = sim_object_of(SIM_A_NODE, handle);

	return node && node->work->kind == kind ? node : NULL;
}

API(SIM_INIT, cuGraphNodeGetType, (CUgraphNode handle, CUgraphNodeType *type), (handle, type))
{
	const struct sim_node *node = sim_object_of(SIM_A_NODE, handle);

	if (!node || !type)
		return CUDA_ERROR_INVALID_VALUE;
	*type = sim_work_node_type(node->work);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphAddEmptyNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count), (node, graph, before, count))
{
	return add(node, graph, before, count, sim_work_new(SIM_EMPTY));
}

API(SIM_CONTEXT, cuGraphAddKernelNode_v2,
	(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count, const CUDA_KERNEL_NODE_PARAMS *params),
	(node, graph, before, count, params))
{
	struct sim_work *work;
	CUresult result = params ? sim_node_kernel(&work, params, NULL) : CUDA_ERROR_INVALID_VALUE;

	return result == CUDA_SUCCESS ? add(node, graph, before, count, work) : result;
}

/*
 * The parameters belong to the node: "the memory is returned by reference, and remains valid until the node is changed or destroyed".
 * Measured: a node launched by a CUkernel tells that as `kern`, and its function as `func` besides.
 */
API(SIM_INIT, cuGraphKernelNodeGetParams_v2, (CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *params), (handle, params))
{
	const struct sim_node *node = node_of(handle, SIM_KERNEL);
	const struct sim_kernel_work *kernel;

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	kernel = &node->work->kernel;
	*params = (CUDA_KERNEL_NODE_PARAMS){
		.func = (CUfunction)kernel->function,
		.gridDimX = kernel->grid.x,
		.gridDimY = kernel->grid.y,
		.gridDimZ = kernel->grid.z,
		.blockDimX = kernel->block.x,
		.blockDimY = kernel->block.y,
		.blockDimZ = kernel->block.z,
		.sharedMemBytes = kernel->shared_bytes,
		.kernelParams = kernel->params,
		.kern = kernel->kernel,
		.ctx = (CUcontext)node->work->context,
	};
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphKernelNodeSetParams_v2, (CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *params), (handle, params))
{
	struct sim_node *node = node_of(handle, SIM_KERNEL);
	struct sim_work *work;
	CUresult result;

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_node_kernel(&work, params, node->work);
	if (result == CUDA_SUCCESS)
		sim_node_set(node, work);
	return result;
}

API(SIM_INIT, cuGraphKernelNodeGetAttribute, (CUgraphNode handle, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue *value),
	(handle, attribute, value))
{
	const struct sim_node *node = node_of(handle, SIM_KERNEL);
	const CUlaunchAttributeValue *found;

	if (!node || !value)
		return CUDA_ERROR_INVALID_VALUE;
	found = sim_kernel_work_attribute(node->work, attribute);
	memset(value, 0, sizeof(*value));
	if (found)
		*value = *found;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphAddMemcpyNode,
	(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count, const CUDA_MEMCPY3D *shape, CUcontext context),
	(node, graph, before, count, shape, context))
{
	struct sim_work *work;
	CUresult result = shape && sim_context_of(context) ? sim_work_copy(&work, shape, false) : CUDA_ERROR_INVALID_VALUE;

	if (result != CUDA_SUCCESS)
		return result;
	work->context = sim_context_of(context);
	return add(node, graph, before, count, work);
}

API(SIM_INIT, cuGraphMemcpyNodeGetParams, (CUgraphNode handle, CUDA_MEMCPY3D *shape), (handle, shape))
{
	const struct sim_node *node = node_of(handle, SIM_COPY);

	if (!node || !shape)
		return CUDA_ERROR_INVALID_VALUE;
	*shape = node->work->copy.shape;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphMemcpyNodeSetParams, (CUgraphNode handle, const CUDA_MEMCPY3D *shape), (handle, shape))
{
	struct sim_node *node = node_of(handle, SIM_COPY);
	struct sim_work *work;
	CUresult result;

	if (!node || !shape)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_work_copy(&work, shape, false);
	if (result != CUDA_SUCCESS)
		return result;
	work->context = node->work->context;
	sim_node_set(node, work);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphAddMemsetNode,
	(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context),
	(node, graph, before, count, params, context))
{
	struct sim_work *work;
	CUresult result = params && sim_context_of(context) ? sim_node_memset(&work, params) : CUDA_ERROR_INVALID_VALUE;

	if (result != CUDA_SUCCESS)
		return result;
	work->context = sim_context_of(context);
	return add(node, graph, before, count, work);
}

API(SIM_INIT, cuGraphMemsetNodeGetParams, (CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *params), (handle, params))
{
	const struct sim_node *node = node_of(handle, SIM_SET);
	const struct sim_set_work *set;

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	set = &node->work->set;
	*params = (CUDA_MEMSET_NODE_PARAMS){set->target, set->pitch, set->value, set->element_bytes, set->width, set->height};
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphMemsetNodeSetParams, (CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *params), (handle, params))
{
	struct sim_node *node = node_of(handle, SIM_SET);
	struct sim_work *work;
	CUresult result;

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_node_memset(&work, params);
	if (result != CUDA_SUCCESS)
		return result;
	work->context = node->work->context;
	sim_node_set(node, work);
	return CUDA_SUCCESS;
}

static struct sim_work *host_work(const CUDA_HOST_NODE_PARAMS *params)
{
	struct sim_work *work = sim_work_new(SIM_HOST);

	work->host.function = params->fn;
	work->host.data = params->userData;
	return work;
}

API(SIM_CONTEXT, cuGraphAddHostNode,
	(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count, const CUDA_HOST_NODE_PARAMS *params),
	(node, graph, before, count, params))
{
	return params && params->fn ? add(node, graph, before, count, host_work(params)) : CUDA_ERROR_INVALID_VALUE;
}

API(SIM_INIT, cuGraphHostNodeGetParams, (CUgraphNode handle, CUDA_HOST_NODE_PARAMS *params), (handle, params))
{
	const struct sim_node *node = node_of(handle, SIM_HOST);

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	*params = (CUDA_HOST_NODE_PARAMS){node->work->host.function, node->work->host.data};
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphHostNodeSetParams, (CUgraphNode handle, const CUDA_HOST_NODE_PARAMS *params), (handle, params))
{
	struct sim_node *node = node_of(handle, SIM_HOST);

	if (!node || !params || !params->fn)
		return CUDA_ERROR_INVALID_VALUE;
	sim_node_set(node, host_work(params));
	return CUDA_SUCCESS;
}

static CUresult add_event(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count, CUevent handle, enum sim_work_kind kind)
{
	struct sim_event *event = sim_object_of(SIM_AN_EVENT, handle);
	struct sim_work *work;

	if (!event)
		return CUDA_ERROR_INVALID_VALUE;
	work = sim_work_new(kind);
	work->event = event;
	return add(node, graph, before, count, work);
}

API(SIM_CONTEXT, cuGraphAddEventRecordNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count, CUevent event),
	(node, graph, before, count, event))
{
	return add_event(node, graph, before, count, event, SIM_RECORD);
}

API(SIM_CONTEXT, cuGraphAddEventWaitNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count, CUevent event),
	(node, graph, before, count, event))
{
	return add_event(node, graph, before, count, event, SIM_WAIT);
}

static CUresult get_event(CUgraphNode handle, enum sim_work_kind kind, CUevent *event)
{
	const struct sim_node *node = node_of(handle, kind);

	if (!node || !event)
		return CUDA_ERROR_INVALID_VALUE;
	*event = (CUevent)node->work->event;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphEventRecordNodeGetEvent, (CUgraphNode node, CUevent *event), (node, event))
{
	return get_event(node, SIM_RECORD, event);
}

API(SIM_INIT, cuGraphEventWaitNodeGetEvent, (CUgraphNode node, CUevent *event), (node, event))
{
	return get_event(node, SIM_WAIT, event);
}

/* "The graph is cloned into the node": changes to the original do not reach it. */
API(SIM_INIT, cuGraphAddChildGraphNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count, CUgraph child),
	(node, graph, before, count, child))
{
	const struct sim_graph *original = sim_object_of(SIM_A_GRAPH, child);
	struct sim_work *work;

	if (!original)
		return CUDA_ERROR_INVALID_VALUE;
	work = sim_work_new(SIM_CHILD);
	work->child = sim_graph_clone(original);
	work->child->is_child = true;
	return add(node, graph, before, count, work);
}

API(SIM_INIT, cuGraphChildGraphNodeGetGraph, (CUgraphNode handle, CUgraph *child), (handle, child))
{
	const struct sim_node *node = node_of(handle, SIM_CHILD);

	if (!node || !child)
		return CUDA_ERROR_INVALID_VALUE;
	*child = (CUgraph)node->work->child;
	return CUDA_SUCCESS;
}
