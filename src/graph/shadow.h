/*
 * The values that each node of an executable graph was given (REPRISE=verify). The driver tells the
 * parameters of a graph's nodes, not of an executable graph's. So the nodes of each capture that
 * makes or updates an executable graph are read back. For a node set by itself, the parameters
 * passed to the driver are kept. For copies of two or three dimensions nothing is kept.
 *
 * Under the lane's lock, or by the builder while the graph is QUEUED.
 */
#pragma once

#include "graph/graph.h"

/* True with REPRISE=verify. Set before the first graph is built. */
extern bool reprise_verifying;

/* The executable graph was made of the captured `nodes`, or updated with them. */
void reprise_shadow_read(struct reprise_graph *graph, const struct reprise_graph_node *nodes);

/* Node i was set to `params`. Does nothing without a shadow. */
void reprise_shadow_kernel(struct reprise_graph *graph, size_t i,
                           const CUDA_KERNEL_NODE_PARAMS *params);
void reprise_shadow_copy(struct reprise_graph *graph, size_t i, const CUDA_MEMCPY3D *params);
void reprise_shadow_set(struct reprise_graph *graph, size_t i,
                        const CUDA_MEMSET_NODE_PARAMS *params);
void reprise_shadow_host(struct reprise_graph *graph, size_t i,
                         const CUDA_HOST_NODE_PARAMS *params);

/* Memory for the nodes of a capture; NULL if there is none, or without verifying. */
struct reprise_graph_node *reprise_shadow_nodes(struct reprise_graph *graph);

enum reprise_shadow_verdict {
	REPRISE_SHADOW_SAME,
	REPRISE_SHADOW_UNKNOWN, /* nothing is kept for the node */
	REPRISE_SHADOW_OTHER,
};

/* Compares node i with `op`. If they differ, `text`, of `size` bytes, says where and how. */
enum reprise_shadow_verdict reprise_shadow_compare(const struct reprise_graph *graph, size_t i,
                                                   const struct reprise_op *op, char *text,
                                                   size_t size);

/* The same for two ops: the program's, and what Reprise made of it. Never UNKNOWN. */
enum reprise_shadow_verdict reprise_shadow_compare_ops(const struct reprise_op *asked,
                                                       const struct reprise_op *op, char *text,
                                                       size_t size);

void reprise_shadow_free(struct reprise_graph *graph);
