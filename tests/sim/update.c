/*
 * Whole-graph update: what may change in an executable graph, as cuGraphExecUpdate documents it
 * under "Limitations", and how nodes are paired: exit nodes in the order in which they were made
 * (errors show: from the last on), and from there the nodes that each depends on, in the order in
 * which its edges were made.
 */
#include "api.h"
#include "batch.h"
#include "context.h"
#include "exec.h"
#include "kernel_work.h"
#include "memory_node.h"

static bool is_cooperative(const struct sim_work *work)
{
	const CUlaunchAttributeValue *value =
		sim_kernel_work_attribute(work, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);

	return value && value->cooperative;
}

/* "The owning context of the function cannot change. A cooperative node cannot be updated to a
 * non-cooperative node, and vice-versa." */
static CUgraphExecUpdateResult kernel_may_become(const struct sim_work *old,
                                                 const struct sim_work *wanted)
{
	if (old->context != wanted->context)
		return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
	if (is_cooperative(old) != is_cooperative(wanted))
		return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/*
 * Which memory a copy touches: managed and device memory by context, or the host's, of which
 * (measured) one kind may become another. Measured: so may device and managed memory if the copy's
 * other side is the host's.
 */
static bool same_memory(uintptr_t old, uintptr_t wanted, bool with_host)
{
	const struct sim_memory *a = sim_memory_of(old), *b = sim_memory_of(wanted);
	bool host_a = !a || (a->kind != SIM_DEVICE && a->kind != SIM_MANAGED),
		 host_b = !b || (b->kind != SIM_DEVICE && b->kind != SIM_MANAGED);

	if (host_a || host_b)
		return host_a == host_b;
	return (with_host || a->kind == b->kind) && a->context == b->context;
}

static uintptr_t side(CUmemorytype type, const void *host, CUdeviceptr device)
{
	return type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device;
}

static bool is_one_dimensional(const CUDA_MEMCPY3D *shape)
{
	return shape->Height == 1 && shape->Depth == 1;
}

/* "Only 1D ... nodes can be changed": measured of copies, of which not even the address may change
 * otherwise. */
static CUgraphExecUpdateResult copy_may_become(const CUDA_MEMCPY3D *old,
                                               const CUDA_MEMCPY3D *wanted)
{
	bool with_host =
		old->srcMemoryType == CU_MEMORYTYPE_HOST || old->dstMemoryType == CU_MEMORYTYPE_HOST;

	if (!is_one_dimensional(old) || !is_one_dimensional(wanted))
		return memcmp(old, wanted, sizeof(*old)) == 0
		           ? CU_GRAPH_EXEC_UPDATE_SUCCESS
		           : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	if (old->srcMemoryType != wanted->srcMemoryType || old->dstMemoryType != wanted->dstMemoryType)
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	if (!same_memory(side(old->srcMemoryType, old->srcHost, old->srcDevice),
	                 side(wanted->srcMemoryType, wanted->srcHost, wanted->srcDevice), with_host) ||
	    !same_memory(side(old->dstMemoryType, old->dstHost, old->dstDevice),
	                 side(wanted->dstMemoryType, wanted->dstHost, wanted->dstDevice), with_host))
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/*
 * "For 2d memsets, only address and assigned value may be updated. For 1d memsets, updating
 * dimensions is also allowed". Measured: the target may be memory of another kind or context.
 */
static CUgraphExecUpdateResult set_may_become(const struct sim_set_work *old,
                                              const struct sim_set_work *wanted)
{
	if (old->height != wanted->height)
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	if (old->height > 1 && (old->width != wanted->width || old->pitch != wanted->pitch ||
	                        old->element_bytes != wanted->element_bytes))
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult child_may_become(const struct sim_graph *old,
                                                const struct sim_graph *wanted,
                                                struct sim_node **error);

/* On failure *error may become the node inside a child graph that does not suit, or NULL if its
 * topology does not. */
static CUgraphExecUpdateResult may_become(const struct sim_work *old, const struct sim_work *wanted,
                                          struct sim_node **error)
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
		return child_may_become(old->child, wanted->child, error);
	case SIM_BATCH:
		return sim_batch_may_become(old, wanted) ? CU_GRAPH_EXEC_UPDATE_SUCCESS
		                                         : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	default:
		return CU_GRAPH_EXEC_UPDATE_SUCCESS;
	}
}

CUgraphExecUpdateResult sim_exec_may_become(const struct sim_work *old,
                                            const struct sim_work *wanted)
{
	struct sim_node *error = NULL;

	return may_become(old, wanted, &error);
}

/* One of two graphs to be compared: works, and what each depends on. */
struct shape {
	const struct sim_graph *graph; /* NULL: of an executable graph */
	VECTOR(struct sim_work *) works;
	VECTOR(size_t) first; /* in edges, of each work, and at the end their count */
	VECTOR(struct sim_exec_edge) edges;
};

static void read_graph(struct shape *shape, const struct sim_graph *graph)
{
	size_t i, j;

	*shape = (struct shape){.graph = graph};
	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_node *node = graph->nodes.at[i];

		sim_push(&shape->works, node->work);
		sim_push(&shape->first, shape->edges.count);
		for (j = 0; j < node->before.count; j++)
			sim_push(&shape->edges, ((struct sim_exec_edge){node->before.at[j]->position,
			                                                node->before_data.at[j]}));
	}
	sim_push(&shape->first, shape->edges.count);
}

static void read_exec(struct shape *shape, const struct sim_exec *exec)
{
	size_t i, j;

	*shape = (struct shape){0};
	for (i = 0; i < exec->nodes.count; i++) {
		const struct sim_exec_node *node = &exec->nodes.at[i];

		sim_push(&shape->works, node->work);
		sim_push(&shape->first, shape->edges.count);
		for (j = 0; j < node->before_count; j++)
			sim_push(&shape->edges, exec->before.at[node->before_first + j]);
	}
	sim_push(&shape->first, shape->edges.count);
}

static void forget(struct shape *shape)
{
	sim_clear(&shape->works);
	sim_clear(&shape->first);
	sim_clear(&shape->edges);
}

/* Positions of nodes that nothing depends on, the one made last first. */
static size_t exits(const struct shape *shape, size_t *into)
{
	bool *has_after = calloc(shape->works.count + 1, sizeof(*has_after));
	size_t i, count = 0;

	for (i = 0; i < shape->edges.count; i++)
		has_after[shape->edges.at[i].position] = true;
	for (i = shape->works.count; i-- > 0;)
		if (!has_after[i])
			into[count++] = i;
	free(has_after);
	return count;
}

#define NOBODY ((size_t)-1)

/* Who is paired with whom, or NOBODY; and where it failed: a node, and one that it depends on, or
 * NOBODY. */
struct pairing {
	size_t *old_of, *new_of;
	size_t *order, paired; /* new nodes as they were paired */
	size_t node, from;     /* of the new graph; node is NOBODY if it is no matter of one */
};

/* Pairs two nodes, and then all that they depend on. */
static bool pair(struct pairing *pairing, const struct shape *old, const struct shape *wanted,
                 size_t old_node, size_t node)
{
	size_t count = wanted->first.at[node + 1] - wanted->first.at[node], i;

	pairing->old_of[node] = old_node;
	pairing->new_of[old_node] = node;
	pairing->order[pairing->paired++] = node;
	pairing->node = node;
	pairing->from = NOBODY;
	if (old->first.at[old_node + 1] - old->first.at[old_node] != count)
		return false;
	for (i = 0; i < count; i++) {
		const struct sim_exec_edge *was = &old->edges.at[old->first.at[old_node] + i],
								   *is = &wanted->edges.at[wanted->first.at[node] + i];
		bool met = pairing->old_of[is->position] == was->position;

		if (memcmp(&was->data, &is->data, sizeof(is->data)) != 0 ||
		    (!met && (pairing->old_of[is->position] != NOBODY ||
		              pairing->new_of[was->position] != NOBODY))) {
			pairing->node = node;
			pairing->from = is->position;
			return false;
		}
		if (!met && !pair(pairing, old, wanted, was->position, is->position))
			return false;
	}
	return true;
}

/* "hGraph has more exit nodes": the error is at one of them. Measured: if it has fewer, at none. */
static bool pair_all(struct pairing *pairing, const struct shape *old, const struct shape *wanted)
{
	size_t count = wanted->works.count, *all = calloc(5 * count + 1, sizeof(*all)),
		   *old_exits = all + 3 * count, *new_exits = all + 4 * count;
	size_t i, old_count = exits(old, old_exits), new_count = exits(wanted, new_exits);
	bool alike = new_count == old_count;

	*pairing = (struct pairing){.old_of = all,
	                            .new_of = all + count,
	                            .order = all + 2 * count,
	                            .node = NOBODY,
	                            .from = NOBODY};
	if (new_count > old_count)
		pairing->node = new_exits[old_count];
	for (i = 0; i < 2 * count; i++)
		all[i] = NOBODY;
	for (i = 0; alike && i < new_count; i++)
		alike = pair(pairing, old, wanted, old_exits[i], new_exits[i]);
	return alike;
}

/* "If the graph was instantiated with CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY, the priority
 * attribute cannot change." */
static bool keeps_priority(const struct sim_work *old, const struct sim_work *wanted)
{
	const CUlaunchAttributeValue *was, *is;

	if (old->kind != SIM_KERNEL)
		return true;
	was = sim_kernel_work_attribute(old, CU_LAUNCH_ATTRIBUTE_PRIORITY);
	is = sim_kernel_work_attribute(wanted, CU_LAUNCH_ATTRIBUTE_PRIORITY);
	return (was ? was->priority : 0) == (is ? is->priority : 0);
}

/* Compares shapes of equally many nodes; *error is the new graph's node at fault. The pairing's
 * array is to be freed in any case. */
static CUgraphExecUpdateResult compare(struct pairing *pairing, const struct shape *old,
                                       const struct shape *wanted, bool priority_counts,
                                       struct sim_node **error)
{
	CUgraphExecUpdateResult result;
	size_t i;

	if (!pair_all(pairing, old, wanted)) {
		*error = pairing->node == NOBODY ? NULL : wanted->graph->nodes.at[pairing->node];
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	}
	pairing->from = NOBODY;
	for (i = 0; i < pairing->paired; i++) {
		size_t node = pairing->order[i];
		const struct sim_work *was = old->works.at[pairing->old_of[node]],
							  *is = wanted->works.at[node];

		*error = wanted->graph->nodes.at[node];
		result = may_become(was, is, error);
		if (result == CU_GRAPH_EXEC_UPDATE_SUCCESS && priority_counts && !keeps_priority(was, is))
			result = CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
		if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
			return result;
	}
	*error = NULL;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult child_may_become(const struct sim_graph *old,
                                                const struct sim_graph *wanted,
                                                struct sim_node **error)
{
	CUgraphExecUpdateResult result;
	struct pairing pairing;
	struct shape was, is;

	*error = NULL;
	if (old->nodes.count != wanted->nodes.count)
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	read_graph(&was, old);
	read_graph(&is, wanted);
	result = compare(&pairing, &was, &is, false, error);
	free(pairing.old_of);
	forget(&was);
	forget(&is);
	return result;
}

static bool is_device_updatable(const struct sim_work *work)
{
	const CUlaunchAttributeValue *value;

	if (work->kind != SIM_KERNEL)
		return false;
	value = sim_kernel_work_attribute(work, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE);
	return value && value->deviceUpdatableKernelNode.deviceUpdatable;
}

/* "Neither hGraph nor hGraphExec may contain device-updatable kernel nodes." */
static bool has_device_updatable(const struct shape *shape)
{
	size_t i;

	for (i = 0; i < shape->works.count; i++)
		if (is_device_updatable(shape->works.at[i]))
			return true;
	return false;
}

/* Measured: other cluster dimensions are accepted, and ignored. Returns a reference. */
static struct sim_work *updated(const struct sim_work *old, struct sim_work *wanted)
{
	const struct sim_kernel_work *kernel = &wanted->kernel;
	const CUlaunchAttributeValue *was, *is;
	struct sim_work *made;

	if (wanted->kind != SIM_KERNEL)
		return sim_exec_work(wanted);
	was = sim_kernel_work_attribute(old, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	is = sim_kernel_work_attribute(wanted, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	if (!was || !is || memcmp(&was->clusterDim, &is->clusterDim, sizeof(was->clusterDim)) == 0)
		return sim_work_keep(wanted);
	if (sim_work_kernel(&made, (CUfunction)kernel->function, kernel->grid, kernel->block,
	                    kernel->shared_bytes, kernel->params, NULL, old->kernel.attributes,
	                    old->kernel.attribute_count) != CUDA_SUCCESS)
		return sim_work_keep(wanted);
	return made;
}

/* Measured: of what is no graph it does not tell an error in *info, only by its own result. */
API(SIM_CONTEXT, cuGraphExecUpdate_v2,
    (CUgraphExec exec_handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo *info),
    (exec_handle, graph_handle, info))
{
	struct sim_exec *exec = sim_object_of(SIM_AN_EXEC, exec_handle);
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, graph_handle);
	struct sim_node *error = NULL;
	struct pairing pairing;
	struct shape was, is;
	bool unsupported;
	size_t i;

	if (!info)
		return CUDA_ERROR_INVALID_VALUE;
	*info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
	if (!exec || !graph || graph->is_moved)
		return CUDA_ERROR_INVALID_VALUE;
	if (exec->nodes.count != graph->nodes.count) {
		info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	read_exec(&was, exec);
	read_graph(&is, graph);
	info->result = compare(&pairing, &was, &is,
	                       exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY, &error);
	unsupported = info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS &&
	              (has_device_updatable(&was) || has_device_updatable(&is));
	if (unsupported)
		info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
	info->errorNode = (CUgraphNode)error;
	if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
		info->errorFromNode =
			pairing.from == NOBODY ? NULL : (CUgraphNode)graph->nodes.at[pairing.from];
	} else {
		for (i = 0; i < graph->nodes.count; i++) {
			struct sim_exec_node *node = &exec->nodes.at[pairing.old_of[i]];
			struct sim_work *work = updated(node->work, graph->nodes.at[i]->work);

			sim_work_drop(node->work);
			node->work = work;
		}
		sim_exec_take_references(exec, graph);
	}
	free(pairing.old_of);
	forget(&was);
	forget(&is);
	if (unsupported) /* measured */
		return CUDA_ERROR_NOT_SUPPORTED;
	return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
	                                                    : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}
