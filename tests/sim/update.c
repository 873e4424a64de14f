/*
 * Whole-graph update: what may change in an executable graph, as cuGraphExecUpdate documents it under "Limitations", and how nodes are
 * paired: in the order in which they were made, with their edges in the order in which these were made.
 */
#include "api.h"
#include "context.h"
#include "exec.h"
#include "kernel_work.h"
#include "memory.h"

static bool is_cooperative(const struct sim_work *work)
{
	const CUlaunchAttributeValue *value = sim_kernel_work_attribute(work, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);

	return value && value->cooperative;
}

/* "The owning context of the function cannot change. A cooperative node cannot be updated to a non-cooperative node, and vice-versa." */
static CUgraphExecUpdateResult kernel_may_become(const struct sim_work *old, const struct sim_work *wanted)
{
	if (old->context != wanted->context)
		return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
	if (is_cooperative(old) != is_cooperative(wanted))
		return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* The device or host side of an address: what "mapping" and "same context" mean here. */
static bool same_memory(uintptr_t old, uintptr_t wanted)
{
	const struct sim_memory *a = sim_memory_of(old), *b = sim_memory_of(wanted);

	if (!a || !b)
		return a == b;
	return a->kind == b->kind && a->context == b->context;
}

static uintptr_t side(CUmemorytype type, const void *host, CUdeviceptr device)
{
	return type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device;
}

static CUgraphExecUpdateResult copy_may_become(const CUDA_MEMCPY3D *old, const CUDA_MEMCPY3D *wanted)
{
	if (old->srcMemoryType != wanted->srcMemoryType || old->dstMemoryType != wanted->dstMemoryType)
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	if (!same_memory(side(old->srcMemoryType, old->srcHost, old->srcDevice), side(wanted->srcMemoryType, wanted->srcHost, wanted->srcDevice)) ||
	    !same_memory(side(old->dstMemoryType, old->dstHost, old->dstDevice), side(wanted->dstMemoryType, wanted->dstHost, wanted->dstDevice)))
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* "For 2d memsets, only address and assigned value may be updated. For 1d memsets, updating dimensions is also allowed". */
static CUgraphExecUpdateResult set_may_become(const struct sim_set_work *old, const struct sim_set_work *wanted)
{
	if (old->height != wanted->height || !same_memory((uintptr_t)old->target, (uintptr_t)wanted->target))
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	if (old->height > 1 && (old->width != wanted->width || old->pitch != wanted->pitch || old->element_bytes != wanted->element_bytes))
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult child_may_become(const struct sim_graph *old, const struct sim_graph *wanted)
{
	size_t i;

	if (old->nodes.count != wanted->nodes.count)
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	for (i = 0; i < old->nodes.count; i++) {
		CUgraphExecUpdateResult result = sim_exec_may_become(old->nodes.at[i]->work, wanted->nodes.at[i]->work);

		if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
			return result;
	}
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

CUgraphExecUpdateResult sim_exec_may_become(const struct sim_work *old, const struct sim_work *wanted)
{
	if (sim_work_node_type(old) != sim_work_node_type(wanted))
		return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
	switch (old->kind) {
	case SIM_KERNEL:
		return kernel_may_become(old, wanted);
	case SIM_COPY:
		return copy_may_become(&old->copy.shape, &wanted->copy.shape);
	case SIM_SET:
		return set_may_become(&old->set, &wanted->set);
	case SIM_CHILD:
		return child_may_become(old->child, wanted->child);
	default:
		return CU_GRAPH_EXEC_UPDATE_SUCCESS;
	}
}

/* Compares without changing anything; fills in *info. */
static bool may_update(const struct sim_exec *exec, const struct sim_graph *graph, CUgraphExecUpdateResultInfo *info)
{
	size_t i, j;

	*info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
	if (exec->nodes.count != graph->nodes.count)
		return false;
	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_exec_node *old = &exec->nodes.at[i];
		struct sim_node *wanted = graph->nodes.at[i];

		info->errorNode = (CUgraphNode)wanted;
		if (old->before_count != wanted->before.count)
			return false;
		for (j = 0; j < wanted->before.count; j++) {
			if (exec->before.at[old->before_first + j] == wanted->before.at[j]->position)
				continue;
			info->errorFromNode = (CUgraphNode)wanted->before.at[j];
			return false;
		}
	}
	for (i = 0; i < graph->nodes.count; i++) {
		info->errorNode = (CUgraphNode)graph->nodes.at[i];
		info->result = sim_exec_may_become(exec->nodes.at[i].work, graph->nodes.at[i]->work);
		if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
			return false;
	}
	*info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
	return true;
}

/* Measured: other cluster dimensions are accepted, and ignored. Returns a reference. */
static struct sim_work *updated(const struct sim_work *old, struct sim_work *wanted)
{
	const struct sim_kernel_work *kernel = &wanted->kernel;
	const CUlaunchAttributeValue *was, *is;
	struct sim_work *made;

	if (wanted->kind != SIM_KERNEL)
		return sim_work_keep(wanted);
	was = sim_kernel_work_attribute(old, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	is = sim_kernel_work_attribute(wanted, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	if (!was || !is || memcmp(&was->clusterDim, &is->clusterDim, sizeof(was->clusterDim)) == 0)
		return sim_work_keep(wanted);
	if (sim_work_kernel(&made, (CUfunction)kernel->function, kernel->grid, kernel->block, kernel->shared_bytes, kernel->params, NULL,
		    old->kernel.attributes, old->kernel.attribute_count) != CUDA_SUCCESS)
		return sim_work_keep(wanted);
	return made;
}

API(SIM_CONTEXT, cuGraphExecUpdate_v2, (CUgraphExec exec_handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo *info),
	(exec_handle, graph_handle, info))
{
	struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, exec_handle);
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, graph_handle);
	size_t i;

	if (!info)
		return CUDA_ERROR_INVALID_VALUE;
	*info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
	if (!exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	if (!may_update(exec, graph, info))
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	for (i = 0; i < graph->nodes.count; i++) {
		struct sim_work *work = updated(exec->nodes.at[i].work, graph->nodes.at[i]->work);

		sim_work_drop(exec->nodes.at[i].work);
		exec->nodes.at[i].work = work;
	}
	return CUDA_SUCCESS;
}
