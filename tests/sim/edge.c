/*
 * Edges of graphs, and the calls that tell and change them. An edge carries data: all zero for an
 * ordinary dependency, or the port of a kernel that programmatic dependent launch waits for. Here
 * each is an ordinary dependency when it comes to running.
 */
#include "api.h"
#include "graph.h"
#include "memory_node.h"

bool sim_edge_is_plain(const CUgraphEdgeData *data)
{
	static const CUgraphEdgeData plain;

	return memcmp(data, &plain, sizeof(plain)) == 0;
}

/* "Only kernel nodes define non-zero ports." A programmatic edge "may only be used between kernel
 * nodes", and from one of the other two ports. */
bool sim_edge_may_be(CUgraphNodeType from, CUgraphNodeType to, const CUgraphEdgeData *data)
{
	static const CUgraphEdgeData plain;

	if (sim_edge_is_plain(data))
		return true;
	if (data->to_port || data->from_port > CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER ||
	    data->type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ||
	    memcmp(data->reserved, plain.reserved, sizeof(plain.reserved)) != 0)
		return false;
	if (data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
		return from == CU_GRAPH_NODE_TYPE_KERNEL && to == CU_GRAPH_NODE_TYPE_KERNEL &&
		       data->from_port != CU_GRAPH_KERNEL_NODE_PORT_DEFAULT;
	return from == CU_GRAPH_NODE_TYPE_KERNEL &&
	       data->from_port != CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
}

/* The position of an edge among those to a node, or their count. */
static size_t position_of(const struct sim_node *from, const struct sim_node *to)
{
	size_t i;

	for (i = 0; i < to->before.count && to->before.at[i] != from; i++)
		;
	return i;
}

/* An edge that exists already is refused. */
CUresult sim_graph_connect(struct sim_node *from, struct sim_node *to, const CUgraphEdgeData *data)
{
	CUgraphEdgeData own = {0};

	if (data)
		own = *data;
	if (from == to || from->graph != to->graph || position_of(from, to) < to->before.count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_edge_may_be(sim_work_node_type(from->work), sim_work_node_type(to->work), &own))
		return CUDA_ERROR_INVALID_VALUE;
	sim_push(&to->before, from);
	sim_push(&to->before_data, own);
	sim_push(&from->after, to);
	return CUDA_SUCCESS;
}

static void forget_after(struct sim_node *from, const struct sim_node *to)
{
	size_t i;

	for (i = from->after.count; i-- > 0;)
		if (from->after.at[i] == to)
			sim_remove(&from->after, i);
}

static void forget_before(const struct sim_node *from, struct sim_node *to)
{
	size_t position = position_of(from, to);

	sim_remove(&to->before, position);
	sim_remove(&to->before_data, position);
}

void sim_graph_disconnect(struct sim_node *node)
{
	size_t i;

	for (i = 0; i < node->before.count; i++)
		forget_after(node->before.at[i], node);
	for (i = 0; i < node->after.count; i++)
		forget_before(node, node->after.at[i]);
}

/* "If nodes is NULL the count is returned; otherwise entries beyond the count are NULL and *count
 * is set to the number obtained." */
static CUresult give_nodes(struct sim_node *const *nodes, size_t count, CUgraphNode *given,
                           size_t *room)
{
	size_t i;

	if (!room)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; given && i < *room; i++)
		given[i] = i < count ? (CUgraphNode)nodes[i] : NULL;
	if (!given || count < *room)
		*room = count;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphGetNodes, (CUgraph handle, CUgraphNode *nodes, size_t *count),
    (handle, nodes, count))
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);

	return graph ? give_nodes(graph->nodes.at, graph->nodes.count, nodes, count)
	             : CUDA_ERROR_INVALID_VALUE;
}

API(SIM_INIT, cuGraphGetRootNodes, (CUgraph handle, CUgraphNode *nodes, size_t *count),
    (handle, nodes, count))
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	VECTOR(struct sim_node *) roots = {0};
	CUresult result;
	size_t i;

	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < graph->nodes.count; i++)
		if (graph->nodes.at[i]->before.count == 0)
			sim_push(&roots, graph->nodes.at[i]);
	result = give_nodes(roots.at, roots.count, nodes, count);
	sim_clear(&roots);
	return result;
}

/*
 * "edgeData may alone be NULL, in which case the edges must all have default (zeroed) edge data.
 * Attempting a lossy query via NULL edgeData will result in CUDA_ERROR_LOSSY_QUERY."
 */
static bool is_lossy(const struct sim_node *node)
{
	size_t i;

	for (i = 0; i < node->before_data.count; i++)
		if (!sim_edge_is_plain(&node->before_data.at[i]))
			return true;
	return false;
}

static CUresult get_edges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                          size_t *count)
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	size_t edges = 0, i, j;

	if (!graph || !count || !from != !to || (data && !from))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_node *node = graph->nodes.at[i];

		if (from && !data && is_lossy(node))
			return CUDA_ERROR_LOSSY_QUERY;
		for (j = 0; j < node->before.count; j++, edges++) {
			if (!from || edges >= *count)
				continue;
			from[edges] = (CUgraphNode)node->before.at[j];
			to[edges] = (CUgraphNode)node;
			if (data)
				data[edges] = node->before_data.at[j];
		}
	}
	for (i = edges; from && i < *count; i++)
		from[i] = to[i] = NULL;
	if (!from || edges < *count)
		*count = edges;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count),
    (graph, from, to, count))
{
	return get_edges(graph, from, to, NULL, count);
}

API(SIM_INIT, cuGraphGetEdges_v2,
    (CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count),
    (graph, from, to, data, count))
{
	return get_edges(graph, from, to, data, count);
}

static CUresult get_before(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data,
                           size_t *count)
{
	const struct sim_node *node = sim_object_of(SIM_A_NODE, handle);
	size_t i;

	if (!node || !count || (data && !nodes))
		return CUDA_ERROR_INVALID_VALUE;
	if (nodes && !data && is_lossy(node))
		return CUDA_ERROR_LOSSY_QUERY;
	for (i = 0; data && i < *count && i < node->before.count; i++)
		data[i] = node->before_data.at[i];
	return give_nodes(node->before.at, node->before.count, nodes, count);
}

static CUresult get_after(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data,
                          size_t *count)
{
	const struct sim_node *node = sim_object_of(SIM_A_NODE, handle);
	size_t i;

	if (!node || !count || (data && !nodes))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; nodes && i < node->after.count; i++) {
		const CUgraphEdgeData *edge =
			&node->after.at[i]->before_data.at[position_of(node, node->after.at[i])];

		if (!data && !sim_edge_is_plain(edge))
			return CUDA_ERROR_LOSSY_QUERY;
		if (data && i < *count)
			data[i] = *edge;
	}
	return give_nodes(node->after.at, node->after.count, nodes, count);
}

API(SIM_INIT, cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *nodes, size_t *count),
    (node, nodes, count))
{
	return get_before(node, nodes, NULL, count);
}

API(SIM_INIT, cuGraphNodeGetDependencies_v2,
    (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count),
    (node, nodes, data, count))
{
	return get_before(node, nodes, data, count);
}

API(SIM_INIT, cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *nodes, size_t *count),
    (node, nodes, count))
{
	return get_after(node, nodes, NULL, count);
}

API(SIM_INIT, cuGraphNodeGetDependentNodes_v2,
    (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count),
    (node, nodes, data, count))
{
	return get_after(node, nodes, data, count);
}

/* "If numDependencies is 0, elements in from and to will be ignored." */
static CUresult add_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                 const CUgraphEdgeData *data, size_t count)
{
	size_t i;

	if (!sim_object_of(SIM_A_GRAPH, graph) || (count && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		struct sim_node *a = sim_object_of(SIM_A_NODE, from[i]),
						*b = sim_object_of(SIM_A_NODE, to[i]);

		if (!a || !b || (CUgraph)a->graph != graph ||
		    sim_graph_connect(a, b, data ? &data[i] : NULL) != CUDA_SUCCESS)
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphAddDependencies,
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),
    (graph, from, to, count))
{
	return add_dependencies(graph, from, to, NULL, count);
}

API(SIM_INIT, cuGraphAddDependencies_v2,
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
     size_t count),
    (graph, from, to, data, count))
{
	return add_dependencies(graph, from, to, data, count);
}

/* "Dependencies cannot be removed from graphs which contain allocation or free nodes." Measured: an
 * edge is removed whatever data is given for it. */
static CUresult remove_dependencies(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                                    size_t count)
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	size_t i;

	if (!graph || (count && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	if (count && sim_graph_has_memory(graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	for (i = 0; i < count; i++) {
		struct sim_node *a = sim_object_of(SIM_A_NODE, from[i]),
						*b = sim_object_of(SIM_A_NODE, to[i]);

		if (!a || !b || a->graph != graph || position_of(a, b) == b->before.count)
			return CUDA_ERROR_INVALID_VALUE;
		forget_before(a, b);
		forget_after(a, b);
	}
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphRemoveDependencies,
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),
    (graph, from, to, count))
{
	return remove_dependencies(graph, from, to, count);
}

API(SIM_INIT, cuGraphRemoveDependencies_v2,
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
     size_t count),
    (graph, from, to, data, count))
{
	return remove_dependencies(graph, from, to, count);
}
