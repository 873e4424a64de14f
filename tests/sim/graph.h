/* Graphs: nodes in order of creation, each a work, and the edges between them (graph.c); their parameters (node.c). */
#pragma once

#include "object.h"
#include "sim.h"
#include "work.h"

struct sim_node {
	struct sim_object object;
	struct sim_graph *graph;
	struct sim_work *work;
	size_t position; /* in the graph */
	VECTOR(struct sim_node *) before; /* in the order in which the edges were made */
	VECTOR(struct sim_node *) after;
};

struct sim_graph {
	struct sim_object object;
	bool is_child; /* owned by a node: not to be destroyed by the program */
	VECTOR(struct sim_node *) nodes;
};

struct sim_graph *sim_graph_new(void);
void sim_graph_free(struct sim_graph *graph);
struct sim_graph *sim_graph_clone(const struct sim_graph *graph);

/* Takes a reference to the work. */
struct sim_node *sim_graph_add(struct sim_graph *graph, struct sim_work *work, struct sim_node *const *before, size_t count);
CUresult sim_graph_connect(struct sim_node *from, struct sim_node *to);

/* Gives the node other work of the same kind; consumes the caller's reference. */
void sim_node_set(struct sim_node *node, struct sim_work *work);

/*
 * Node parameters as a work: CUDA_ERROR_INVALID_VALUE, or CUDA_ERROR_INVALID_HANDLE if `func` is a CUkernel (measured: it is
 * refused there, and belongs in `kern`). `attributes` of an earlier launch may be kept.
 */
CUresult sim_node_kernel(struct sim_work **made, const CUDA_KERNEL_NODE_PARAMS *params, const struct sim_work *attributes_from);
CUresult sim_node_memset(struct sim_work **made, const CUDA_MEMSET_NODE_PARAMS *params);
