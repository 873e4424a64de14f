/* Graph nodes: making them explicitly, reading and setting their parameters, by a call for each
 * type and by one for all. */
#include "api.h"
#include "attribute.h"
#include "context.h"
#include "event.h"
#include "graph.h"
#include "kernel_work.h"
#include "params.h"
#include "stream.h"

/* "dependencies may not have any duplicate entries". */
static bool may_follow(const struct sim_graph *graph, const CUgraphNode *before,
                       const CUgraphEdgeData *data, size_t count, CUgraphNodeType type)
{
	size_t i, j;

	if (count && !before)
		return false;
	for (i = 0; i < count; i++) {
		const struct sim_node *node = sim_object_of(SIM_A_NODE, before[i]);

		if (!node || node->graph != graph ||
		    (data && !sim_edge_may_be(sim_work_node_type(node->work), type, &data[i])))
			return false;
		for (j = 0; j < i; j++)
			if (before[j] == before[i])
				return false;
	}
	return true;
}

static CUresult add(CUgraphNode *made, CUgraph handle, const CUgraphNode *before,
                    const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params)
{
	struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	struct sim_work *work;
	CUresult result;

	if (!made || !graph || !may_follow(graph, before, data, count, params->type))
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_params_work(&work, graph, params, NULL);
	if (result != CUDA_SUCCESS)
		return result;
	*made = (CUgraphNode)sim_graph_add(graph, work, (struct sim_node *const *)before, data, count);
	if (work->kind == SIM_CHILD)
		params->graph.graph = (CUgraph)work->child;
	sim_work_drop(work);
	return CUDA_SUCCESS;
}

/* Sets a node's parameters; the type has to be the node's. */
static CUresult set(CUgraphNode handle, CUgraphNodeParams *params)
{
	struct sim_node *node = sim_object_of(SIM_A_NODE, handle);
	struct sim_work *work;
	CUresult result;

	if (!node || sim_work_node_type(node->work) != params->type)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_params_work(&work, node->graph, params, node->work);
	if (result == CUDA_SUCCESS)
		sim_node_set(node, work);
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

API(SIM_CONTEXT, cuGraphAddNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,
     CUgraphNodeParams *params),
    (node, graph, before, count, params))
{
	return params && sim_params_are_clean(params) ? add(node, graph, before, NULL, count, params)
	                                              : CUDA_ERROR_INVALID_VALUE;
}

API(SIM_CONTEXT, cuGraphAddNode_v2,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data,
     size_t count, CUgraphNodeParams *params),
    (node, graph, before, data, count, params))
{
	return params && sim_params_are_clean(params) ? add(node, graph, before, data, count, params)
	                                              : CUDA_ERROR_INVALID_VALUE;
}

API(SIM_CONTEXT, cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams *params),
    (node, params))
{
	return params && sim_params_are_clean(params) ? set(node, params) : CUDA_ERROR_INVALID_VALUE;
}

API(SIM_INIT, cuGraphAddEmptyNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count),
    (node, graph, before, count))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_EMPTY};

	return add(node, graph, before, NULL, count, &any);
}

API(SIM_CONTEXT, cuGraphAddKernelNode_v2,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,
     const CUDA_KERNEL_NODE_PARAMS *params),
    (node, graph, before, count, params))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_kernel(params);
	return add(node, graph, before, NULL, count, &any);
}

/*
 * The parameters belong to the node: "the memory is returned by reference, and remains valid until
 * the node is changed or destroyed". Measured: a node launched by a CUkernel tells that as `kern`,
 * and its function as `func` besides. A kernel without parameters has none to tell.
 */
API(SIM_INIT, cuGraphKernelNodeGetParams_v2, (CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *params),
    (handle, params))
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
		.kernelParams = kernel->function->code->parameter_count ? kernel->params : NULL,
		.kern = kernel->kernel,
		.ctx = (CUcontext)node->work->context,
	};
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphKernelNodeSetParams_v2,
    (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params), (node, params))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_kernel(params);
	return set(node, &any);
}

/*
 * "Valid for graph nodes": the documentation of CUlaunchAttributeID. Measured: not
 * CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, which it lists, but
 * CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, which it does not;
 * CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING can only be set.
 */
static bool is_node_attribute(CUkernelNodeAttrID attribute)
{
	switch ((int)attribute) {
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
	case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return true;
	default:
		return false;
	}
}

API(SIM_INIT, cuGraphKernelNodeGetAttribute,
    (CUgraphNode handle, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue *value),
    (handle, attribute, value))
{
	const struct sim_node *node = node_of(handle, SIM_KERNEL);
	const CUlaunchAttributeValue *found;
	CUlaunchAttributeValue first;

	if (!node || !value || !is_node_attribute(attribute))
		return CUDA_ERROR_INVALID_VALUE;
	found = sim_kernel_work_attribute(node->work, attribute);
	first = sim_attribute_default(attribute);
	if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		first.priority = node->priority;
	sim_attribute_tell(value, attribute, found ? found : &first);
	return CUDA_SUCCESS;
}

/* Gives a kernel node the attributes, of which later ones take the place of earlier ones. */
static CUresult set_attributes(struct sim_node *node, const CUlaunchAttribute *attributes,
                               unsigned int count)
{
	const struct sim_kernel_work *kernel = &node->work->kernel;
	struct sim_work *work;
	CUresult result =
		sim_work_kernel(&work, (CUfunction)kernel->function, kernel->grid, kernel->block,
	                    kernel->shared_bytes, kernel->params, NULL, attributes, count);

	if (result != CUDA_SUCCESS)
		return result;
	work->kernel.kernel = kernel->kernel;
	sim_node_set(node, work);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphKernelNodeSetAttribute,
    (CUgraphNode handle, CUkernelNodeAttrID attribute, const CUkernelNodeAttrValue *value),
    (handle, attribute, value))
{
	struct sim_node *node = node_of(handle, SIM_KERNEL);
	CUlaunchAttribute attributes[CU_LAUNCH_ATTRIBUTE_MAX + 1];
	unsigned int count = 0, i;

	if (!node || !value ||
	    (!is_node_attribute(attribute) &&
	     attribute != CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < node->work->kernel.attribute_count; i++)
		if (node->work->kernel.attributes[i].id != attribute)
			attributes[count++] = node->work->kernel.attributes[i];
	attributes[count] = (CUlaunchAttribute){.id = attribute, .value = *value};
	if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		attributes[count].value.priority = sim_stream_priority(value->priority);
	count++;
	return set_attributes(node, attributes, count);
}

/* "Both node must have the same context." */
API(SIM_CONTEXT, cuGraphKernelNodeCopyAttributes, (CUgraphNode target, CUgraphNode source),
    (target, source))
{
	struct sim_node *to = node_of(target, SIM_KERNEL);
	const struct sim_node *from = node_of(source, SIM_KERNEL);

	if (!to || !from || to->work->context != from->work->context)
		return CUDA_ERROR_INVALID_VALUE;
	to->priority = from->priority;
	return set_attributes(to, from->work->kernel.attributes, from->work->kernel.attribute_count);
}

API(SIM_CONTEXT, cuGraphAddMemcpyNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,
     const CUDA_MEMCPY3D *shape, CUcontext context),
    (node, graph, before, count, shape, context))
{
	CUgraphNodeParams any;

	if (!shape)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_copy(shape, context);
	return add(node, graph, before, NULL, count, &any);
}

API(SIM_INIT, cuGraphMemcpyNodeGetParams, (CUgraphNode handle, CUDA_MEMCPY3D *shape),
    (handle, shape))
{
	const struct sim_node *node = node_of(handle, SIM_COPY);

	if (!node || !shape)
		return CUDA_ERROR_INVALID_VALUE;
	*shape = node->work->copy.shape;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphMemcpyNodeSetParams, (CUgraphNode handle, const CUDA_MEMCPY3D *shape),
    (handle, shape))
{
	const struct sim_node *node = node_of(handle, SIM_COPY);
	CUgraphNodeParams any;

	if (!node || !shape)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_copy(shape, (CUcontext)node->work->context);
	return set(handle, &any);
}

API(SIM_CONTEXT, cuGraphAddMemsetNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,
     const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context),
    (node, graph, before, count, params, context))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_set(params, context);
	return add(node, graph, before, NULL, count, &any);
}

API(SIM_INIT, cuGraphMemsetNodeGetParams, (CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *params),
    (handle, params))
{
	const struct sim_node *node = node_of(handle, SIM_SET);
	const struct sim_set_work *own;

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	own = &node->work->set;
	*params = (CUDA_MEMSET_NODE_PARAMS){own->target,        own->pitch, own->value,
	                                    own->element_bytes, own->width, own->height};
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphMemsetNodeSetParams,
    (CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *params), (handle, params))
{
	const struct sim_node *node = node_of(handle, SIM_SET);
	CUgraphNodeParams any;

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_set(params, (CUcontext)node->work->context);
	return set(handle, &any);
}

API(SIM_CONTEXT, cuGraphAddHostNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,
     const CUDA_HOST_NODE_PARAMS *params),
    (node, graph, before, count, params))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_host(params);
	return add(node, graph, before, NULL, count, &any);
}

API(SIM_INIT, cuGraphHostNodeGetParams, (CUgraphNode handle, CUDA_HOST_NODE_PARAMS *params),
    (handle, params))
{
	const struct sim_node *node = node_of(handle, SIM_HOST);

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	*params = (CUDA_HOST_NODE_PARAMS){node->work->host.function, node->work->host.data};
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphHostNodeSetParams, (CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params),
    (node, params))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_host(params);
	return set(node, &any);
}

API(SIM_CONTEXT, cuGraphAddEventRecordNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count, CUevent event),
    (node, graph, before, count, event))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event}};

	return add(node, graph, before, NULL, count, &any);
}

API(SIM_CONTEXT, cuGraphAddEventWaitNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count, CUevent event),
    (node, graph, before, count, event))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {event}};

	return add(node, graph, before, NULL, count, &any);
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

API(SIM_CONTEXT, cuGraphEventRecordNodeSetEvent, (CUgraphNode node, CUevent event), (node, event))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event}};

	return set(node, &any);
}

API(SIM_CONTEXT, cuGraphEventWaitNodeSetEvent, (CUgraphNode node, CUevent event), (node, event))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {event}};

	return set(node, &any);
}

API(SIM_INIT, cuGraphAddChildGraphNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count, CUgraph child),
    (node, graph, before, count, child))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
	                         .graph = {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE}};

	return add(node, graph, before, NULL, count, &any);
}

API(SIM_INIT, cuGraphChildGraphNodeGetGraph, (CUgraphNode handle, CUgraph *child), (handle, child))
{
	const struct sim_node *node = node_of(handle, SIM_CHILD);

	if (!node || !child)
		return CUDA_ERROR_INVALID_VALUE;
	*child = (CUgraph)node->work->child;
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphAddMemAllocNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,
     CUDA_MEM_ALLOC_NODE_PARAMS *params),
    (node, graph, before, count, params))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
	CUresult result;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any.alloc = (CUDA_MEM_ALLOC_NODE_PARAMS_v2){params->poolProps, params->accessDescs,
	                                            params->accessDescCount, params->bytesize, 0};
	result = add(node, graph, before, NULL, count, &any);
	params->dptr = any.alloc.dptr;
	return result;
}

API(SIM_CONTEXT, cuGraphAddMemFreeNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,
     CUdeviceptr address),
    (node, graph, before, count, address))
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {address}};

	return add(node, graph, before, NULL, count, &any);
}

API(SIM_CONTEXT, cuGraphAddBatchMemOpNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,
     const CUDA_BATCH_MEM_OP_NODE_PARAMS *params),
    (node, graph, before, count, params))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_batch(params);
	return add(node, graph, before, NULL, count, &any);
}

API(SIM_INIT, cuGraphBatchMemOpNodeGetParams,
    (CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS *params), (handle, params))
{
	const struct sim_node *node = node_of(handle, SIM_BATCH);

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	*params = (CUDA_BATCH_MEM_OP_NODE_PARAMS){(CUcontext)node->work->context,
	                                          node->work->batch.count, node->work->batch.params, 0};
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuGraphBatchMemOpNodeSetParams,
    (CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params), (node, params))
{
	CUgraphNodeParams any;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	any = sim_params_of_batch(params);
	return set(node, &any);
}
