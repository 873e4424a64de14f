#include "graph.h"

#include <stdio.h>

#include "api.h"
#include "capture.h"
#include "context.h"
#include "memory_node.h"

struct sim_graph *sim_graph_new(void)
{
	struct sim_graph *graph = sim_object_new(SIM_A_GRAPH, sizeof(*graph));

	graph->context = sim_current() ? sim_current()->object.serial : 0;
	return graph;
}

static void node_free(struct sim_node *node)
{
	sim_work_drop(node->work);
	sim_clear(&node->before);
	sim_clear(&node->before_data);
	sim_clear(&node->after);
	sim_object_free(node);
}

void sim_graph_free(struct sim_graph *graph)
{
	size_t i;

	for (i = graph->nodes.count; i-- > 0;)
		node_free(graph->nodes.at[i]);
	sim_clear(&graph->nodes);
	sim_references_release(&graph->references);
	sim_object_free(graph);
}

struct sim_node *sim_graph_add(struct sim_graph *graph, struct sim_work *work,
                               struct sim_node *const *before, const CUgraphEdgeData *data,
                               size_t count)
{
	struct sim_node *node = sim_object_new(SIM_A_NODE, sizeof(*node));
	size_t i;

	node->graph = graph;
	node->work = sim_work_keep(work);
	node->position = graph->nodes.count;
	sim_push(&graph->nodes, node);
	for (i = 0; i < count; i++)
		sim_graph_connect(before[i], node, data ? &data[i] : NULL);
	return node;
}

void sim_node_set(struct sim_node *node, struct sim_work *work)
{
	sim_work_drop(node->work);
	node->work = work;
}

/* "Child graph nodes in the original graph are recursively copied into the clone." */
static struct sim_work *work_of_clone(struct sim_work *original)
{
	struct sim_work *work;

	if (original->kind != SIM_CHILD)
		return sim_work_keep(original);
	work = sim_work_new(SIM_CHILD);
	work->context = original->context;
	work->child = sim_graph_clone(original->child);
	work->child->is_child = true;
	return work;
}

struct sim_graph *sim_graph_clone(const struct sim_graph *graph)
{
	struct sim_graph *clone = sim_graph_new();
	size_t i, j;

	for (i = 0; i < graph->nodes.count; i++) {
		struct sim_work *work = work_of_clone(graph->nodes.at[i]->work);

		struct sim_node *node = sim_graph_add(clone, work, NULL, NULL, 0);

		node->cloned_from = graph->nodes.at[i]->object.serial;
		node->priority = graph->nodes.at[i]->priority;
		sim_work_drop(work);
	}
	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_node *node = graph->nodes.at[i];

		for (j = 0; j < node->before.count; j++)
			sim_graph_connect(clone->nodes.at[node->before.at[j]->position], clone->nodes.at[i],
			                  &node->before_data.at[j]);
	}
	sim_references_copy(&clone->references, &graph->references);
	return clone;
}

API(SIM_INIT, cuGraphCreate, (CUgraph * graph, unsigned int flags), (graph, flags))
{
	if (!graph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*graph = (CUgraph)sim_graph_new();
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphDestroy, (CUgraph handle), (handle))
{
	struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);

	if (!graph || graph->is_child)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_capture_builds(graph))
		return CUDA_ERROR_ILLEGAL_STATE;
	sim_graph_free(graph);
	return CUDA_SUCCESS;
}

/* "Cloning is not supported for graphs which contain memory allocation nodes, memory free nodes".
 */
API(SIM_INIT, cuGraphClone, (CUgraph * clone, CUgraph handle), (clone, handle))
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);

	if (!clone || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_graph_has_memory(graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	*clone = (CUgraph)sim_graph_clone(graph);
	return CUDA_SUCCESS;
}

/* "hClonedGraph must have been cloned from hOriginalGraph via cuGraphClone": nodes remember which
 * one they were made from. */
API(SIM_INIT, cuGraphNodeFindInClone,
    (CUgraphNode * found, CUgraphNode handle, CUgraph clone_handle), (found, handle, clone_handle))
{
	const struct sim_graph *clone = sim_object_of(SIM_A_GRAPH, clone_handle);
	const struct sim_node *original = sim_object_of(SIM_A_NODE, handle);
	size_t i;

	if (!found || !original || !clone)
		return CUDA_ERROR_INVALID_VALUE;
	*found = NULL;
	for (i = 0; i < clone->nodes.count; i++) {
		if (clone->nodes.at[i]->cloned_from != original->object.serial)
			continue;
		*found = (CUgraphNode)clone->nodes.at[i];
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

/* "Nodes which belong to a graph which contains allocation or free nodes cannot be destroyed."
 * Measured: nor can nodes of a graph being captured. */
API(SIM_INIT, cuGraphDestroyNode, (CUgraphNode handle), (handle))
{
	struct sim_node *node = sim_object_of(SIM_A_NODE, handle);
	struct sim_graph *graph;
	size_t i;

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	graph = node->graph;
	if (sim_capture_builds(graph))
		return CUDA_ERROR_ILLEGAL_STATE;
	if (sim_graph_has_memory(graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	sim_graph_disconnect(node);
	sim_remove(&graph->nodes, node->position);
	for (i = node->position; i < graph->nodes.count; i++)
		graph->nodes.at[i]->position = i;
	node_free(node);
	return CUDA_SUCCESS;
}

/* A label of graphviz's, in which the angle brackets of records are escaped. */
static void draw_node(FILE *file, const struct sim_graph *graph, const struct sim_node *node,
                      unsigned int flags)
{
	const struct sim_work *work = node->work;
	bool record =
		work->kind == SIM_KERNEL &&
		(flags & (CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));

	fprintf(file, "\"graph_%u_node_%zu\"[style=\"%s\" shape=\"%s\" label=\"", graph->object.ordinal,
	        node->position, work->kind == SIM_KERNEL ? "bold" : "solid",
	        record                     ? "record"
	        : work->kind == SIM_KERNEL ? "octagon"
	                                   : "rectangle");
	if (record)
		fprintf(file, "{KERNEL\n| {ID | %zu | %s\\<\\<\\<%u,%u,%u\\>\\>\\>}\n}\"];\n",
		        node->position, work->kernel.function->code->name, work->kernel.grid.x,
		        work->kernel.block.x, work->kernel.shared_bytes);
	else
		fprintf(file, "%zu\n%s\n\"];\n", node->position,
		        work->kind == SIM_KERNEL ? work->kernel.function->code->name : sim_work_name(work));
}

/* In the form of CUDA's drawings, as far as that is known: it is not documented, and says more of a
 * node's parameters. */
API(SIM_INIT, cuGraphDebugDotPrint, (CUgraph handle, const char *path, unsigned int flags),
    (handle, path, flags))
{
	const struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, handle);
	FILE *file;
	size_t i, j;

	if (!graph || !path)
		return CUDA_ERROR_INVALID_VALUE;
	file = fopen(path, "w");
	if (!file)
		return CUDA_ERROR_OPERATING_SYSTEM;
	fprintf(file,
	        "digraph dot {\nsubgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n",
	        graph->object.ordinal, graph->object.ordinal);
	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_node *node = graph->nodes.at[i];

		draw_node(file, graph, node, flags);
		for (j = 0; j < node->before.count; j++)
			fprintf(file, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\";\n",
			        graph->object.ordinal, node->before.at[j]->position, graph->object.ordinal, i);
	}
	fprintf(file, "}\n}\n");
	fclose(file);
	return CUDA_SUCCESS;
}
