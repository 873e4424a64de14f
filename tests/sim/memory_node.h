/*
 * Graph memory nodes. An allocation node has its address from the moment it is made; the memory
 * exists from when a launch reaches the node until it is freed: by a node of the same graph, by
 * another graph, or by cuMemFree or cuMemFreeAsync. Whether it exists is settled at the calls, as
 * the errors are.
 *
 * A graph with such nodes has one executable graph at a time, keeps its nodes and edges, is not
 * cloned, and becomes a child only by being moved.
 */
#pragma once

#include "graph.h"
#include "memory.h"

struct sim_graph_memory {
	CUDA_MEM_ALLOC_NODE_PARAMS_v2 params;
	const struct sim_work
		*work;         /* of the node; NULL once no graph, executable graph or op has it any more */
	uint64_t graph;    /* the graph's serial */
	bool freed_inside; /* the graph has a free node for it */
	bool freed_outside; /* another graph has, or (measured) a call has freed it */
	bool live;
};

bool sim_graph_has_memory(const struct sim_graph *graph);

/* Works for nodes of the graph; parameters are checked. An allocation leaves its address in
 * params->dptr. */
CUresult sim_memory_node_alloc(struct sim_work **made, const struct sim_graph *graph,
                               CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params);
CUresult sim_memory_node_free(struct sim_work **made, const struct sim_graph *graph,
                              CUdeviceptr address);

/*
 * A launch of works, in order: what they allocate is live from here, what they free no more.
 * CUDA_ERROR_INVALID_VALUE, with nothing changed, if what one would allocate is live already and
 * `frees` does not say that it is freed first, or if what one frees is not.
 */
CUresult sim_memory_node_launch(struct sim_work *const *works, size_t count, bool frees);

/* cuMemFree or cuMemFreeAsync of memory that may be an allocation node's: whether it exists, and if
 * so it is about to be freed. */
bool sim_memory_node_take(struct sim_memory *memory);

/* A free in stream order, or a free node, has been reached. */
void sim_memory_node_freed(CUdeviceptr address);

/* The work of an allocation goes away. */
void sim_memory_node_forget(const struct sim_work *work);
