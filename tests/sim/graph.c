#include "graph.h"

#include <stdio.h>

#include "api.h"
#include "capture.h"

struct sim_graph *sim_graph_new(void)
{
	return sim_object_new(SIM_A_GRAPH, sizeof(struct sim_graph));
}

static void node_free(struct sim_node *node)
{
	sim_work_drop(node->work);
	sim_clear(&node->before);
	sim_clear(&node->after);
	sim_object_free(node);
}

void sim_graph_free(struct sim_graph *graph)
{
	size_t i;

	for (i = graph->nodes.count; i-- > 0;)
		node_free(graph->nodes.at[i]);
	sim_clear(&graph->nodes);
	sim_object_free(graph);
}

static bool is_before(const struct sim_node *from, const struct sim_node *to)
{
	size_t i;

	for (i = 0; i < to->before.count; i++)
		if (to->before.at[i] == from)
			return true;
	return false;
}

/* An edge that exists already is refused. */
CUresult sim_graph_connect(struct sim_node *from, struct sim_node *to)
{
	if (from == to || from->graph != to->graph || is_before(from, to))
		return CUDA_ERROR_INVALID_VALUE;
	sim_push(&to->before, from);
	sim_push(&from->after, to);
	return CUDA_SUCCESS;
}

struct sim_node *sim_graph_add(struct sim_graph *graph, struct sim_work *work, struct sim_node *const *before, size_t count)
{
	struct sim_node *node = sim_object_new(SIM_A_NODE, sizeof(*node));
	size_t i;

	node->graph = graph;
	node->work = sim_work_keep(work);
	node->position = graph->nodes.count;
	sim_push(&graph->nodes, node);
	for (i = 0; i < count; i++)
		sim_graph_connect(before[i], node);
	return node;
}

void sim_node_set(struct sim_node *node, struct sim_work *work)
{
	sim_work_drop(node->work);
	node->work = work;
}

struct sim_graph *sim_graph_clone(const struct sim_graph *graph)
{
	struct sim_graph *clone = sim_graph_new();
	size_t i, j;

	for (i = 0; i < graph->nodes.count; i++)
		sim_graph_add(clone, graph->nodes.at[i]->work, NULL, 0);
	for (i = 0; i < graph->nodes.count; i++)
		for (j = 0; j < graph->nodes.at[i]->before.count; j++)
			sim_graph_connect(clone->nodes.at[graph->nodes.at[i]->before.at[j]->position], clone->nodes.at[i]);
	return clone;
}

API(SIM_INIT, cuGraphCreate, (CUgraph *graph, unsigned int flags), (graph, flags))
{
	if (!graph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*graph = (CUgraph)sim_graph_new();
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphDestroy, (CUgraph handle), (handle))
{
	struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);

	if (!graph || graph->is_child || sim_capture_builds(graph))
		return CUDA_ERROR_INVALID_VALUE;
	sim_graph_free(graph);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphClone, (CUgraph *clone, CUgraph handle), (clone, handle))
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);

	if (!clone || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	*clone = (CUgraph)sim_graph_clone(graph);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphDestroyNode, (CUgraphNode handle), (handle))
{
	struct sim_node *node = sim_object_of(SIM_A_NODE, handle);
	struct sim_graph *graph;
	size_t i, j;

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	graph = node->graph;
	for (i = 0; i < graph->nodes.count; i++) {
		struct sim_node *other = graph->nodes.at[i];

		for (j = other->before.count; j-- > 0;)
			if (other->before.at[j] == node)
				sim_remove(&other->before, j);
		for (j = other->after.count; j-- > 0;)
			if (other->after.at[j] == node)
				sim_remove(&other->after, j);
	}
	sim_remove(&graph->nodes, node->position);
	for (i = node->position; i < graph->nodes.count; i++)
		graph->nodes.at[i]->position = i;
	node_free(node);
	return CUDA_SUCCESS;
}

/* "If nodes is NULL the count is returned; otherwise entries beyond the count are NULL and *count is set to the number obtained." */
static CUresult give_nodes(struct sim_node *const *nodes, size_t count, CUgraphNode *given, size_t *room)
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

API(SIM_INIT, cuGraphGetNodes, (CUgraph handle, CUgraphNode *nodes, size_t *count), (handle, nodes, count))
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);

	return graph ? give_nodes(graph->nodes.at, graph->nodes.count, nodes, count) : CUDA_ERROR_INVALID_VALUE;
}

API(SIM_INIT, cuGraphGetRootNodes, (CUgraph handle, CUgraphNode *nodes, size_t *count), (handle, nodes, count))
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

/* Every edge here carries full completion: edge data of zero. */
static CUresult get_edges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	size_t edges = 0, i, j;

	if (!graph || !count || !from != !to)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < graph->nodes.count; i++) {
		for (j = 0; j < graph->nodes.at[i]->before.count; j++, edges++) {
			if (!from || edges >= *count)
				continue;
			from[edges] = (CUgraphNode)graph->nodes.at[i]->before.at[j];
			to[edges] = (CUgraphNode)graph->nodes.at[i];
			if (data)
				memset(&data[edges], 0, sizeof(data[edges]));
		}
	}
	if (!from || edges < *count)
		*count = edges;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count), (graph, from, to, count))
{
	return get_edges(graph, from, to, NULL, count);
}

API(SIM_INIT, cuGraphGetEdges_v2, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count),
	(graph, from, to, data, count))
{
	return get_edges(graph, from, to, data, count);
}

static CUresult get_neighbours(CUgraphNode handle, bool before, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count)
{
	const struct sim_node *node = sim_object_of(SIM_A_NODE, handle);

	if (!node || !count)
		return CUDA_ERROR_INVALID_VALUE;
	if (nodes && data)
		memset(data, 0, *count * sizeof(*data));
	return before ? give_nodes(node->before.at, node->before.count, nodes, count) : give_nodes(node->after.at, node->after.count, nodes, count);
}

API(SIM_INIT, cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *nodes, size_t *count), (node, nodes, count))
{
	return get_neighbours(node, true, nodes, NULL, count);
}

API(SIM_INIT, cuGraphNodeGetDependencies_v2, (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count),
	(node, nodes, data, count))
{
	return get_neighbours(node, true, nodes, data, count);
}

API(SIM_INIT, cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *nodes, size_t *count), (node, nodes, count))
{
	return get_neighbours(node, false, nodes, NULL, count);
}

API(SIM_INIT, cuGraphNodeGetDependentNodes_v2, (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count),
	(node, nodes, data, count))
{
	return get_neighbours(node, false, nodes, data, count);
}

static CUresult add_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct sim_node *a = sim_object_of(SIM_A_NODE, from[i]), *b = sim_object_of(SIM_A_NODE, to[i]);

		if (!a || !b || (CUgraph)a->graph != graph || sim_graph_connect(a, b) != CUDA_SUCCESS)
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphAddDependencies, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count), (graph, from, to, count))
{
	return add_dependencies(graph, from, to, count);
}

API(SIM_INIT, cuGraphAddDependencies_v2,
	(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data, size_t count), (graph, from, to, data, count))
{
	return add_dependencies(graph, from, to, count);
}

static CUresult remove_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		struct sim_node *a = sim_object_of(SIM_A_NODE, from[i]), *b = sim_object_of(SIM_A_NODE, to[i]);

		if (!a || !b || (CUgraph)a->graph != graph || !is_before(a, b))
			return CUDA_ERROR_INVALID_VALUE;
		for (j = b->before.count; j-- > 0;)
			if (b->before.at[j] == a)
				sim_remove(&b->before, j);
		for (j = a->after.count; j-- > 0;)
			if (a->after.at[j] == b)
				sim_remove(&a->after, j);
	}
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphRemoveDependencies, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),
	(graph, from, to, count))
{
	return remove_dependencies(graph, from, to, count);
}

API(SIM_INIT, cuGraphRemoveDependencies_v2,
	(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data, size_t count), (graph, from, to, data, count))
{
	return remove_dependencies(graph, from, to, count);
}

API(SIM_INIT, cuGraphDebugDotPrint, (CUgraph handle, const char *path, unsigned int flags), (handle, path, flags))
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	FILE *file;
	size_t i, j;

	if (!graph || !path)
		return CUDA_ERROR_INVALID_VALUE;
	file = fopen(path, "w");
	if (!file)
		return CUDA_ERROR_OPERATING_SYSTEM;
	fprintf(file, "digraph graph_%u {\n", graph->object.ordinal);
	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_node *node = graph->nodes.at[i];

		fprintf(file, "\tnode_%zu [label=\"%s%s%s\"];\n", i, sim_work_name(node->work), node->work->kind == SIM_KERNEL ? " " : "",
			node->work->kind == SIM_KERNEL ? node->work->kernel.function->code->name : "");
		for (j = 0; j < node->before.count; j++)
			fprintf(file, "\tnode_%zu -> node_%zu;\n", node->before.at[j]->position, i);
	}
	fprintf(file, "}\n");
	fclose(file);
	return CUDA_SUCCESS;
}
