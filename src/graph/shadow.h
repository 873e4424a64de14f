/*
 * What each node of an executable graph has been given (REPRISE=verify). The driver tells the
 * parameters of a graph's nodes, not those of the executable one. So after every capture that an
 * executable graph is made of, or updated with, the captured nodes are read back from the driver;
 * and where a single node is set, what was passed to the driver is kept. Of copies of two or three
 * dimensions nothing is kept.
 *
 * Under the lane's lock, or by the building thread while the graph is QUEUED.
 */
#pragma once

#include "graph/graph.h"

/* Whether all this is done. Set before the first graph is built. */
extern bool reprise_verifying;

/* The executable graph has been made of, or updated with, the captured `nodes`. */
void reprise_shadow_read(struct reprise_graph *graph, const struct reprise_graph_node *nodes);

/* Node i has been set so. Nothing if there is no shadow. */
void reprise_shadow_kernel(struct reprise_graph *graph, size_t i,
                           const CUDA_KERNEL_NODE_PARAMS *params);
void reprise_shadow_copy(struct reprise_graph *graph, size_t i, const CUDA_MEMCPY3D *params);
void reprise_shadow_set(struct reprise_graph *graph, size_t i,
                        const CUDA_MEMSET_NODE_PARAMS *params);
void reprise_shadow_host(struct reprise_graph *graph, size_t i,
                         const CUDA_HOST_NODE_PARAMS *params);

/* Room for the nodes of a capture; NULL if there is none, or nothing is verified. */
struct reprise_graph_node *reprise_shadow_nodes(struct reprise_graph *graph);

enum reprise_shadow_verdict {
	REPRISE_SHADOW_SAME,
	REPRISE_SHADOW_UNKNOWN, /* nothing is kept of that node */
	REPRISE_SHADOW_OTHER,
};

/* Whether node i has what `op` says. If not, says in `text`, of `size`, where they differ and what
 * both are. */
enum reprise_shadow_verdict reprise_shadow_compare(const struct reprise_graph *graph, size_t i,
                                                   const struct reprise_op *op, char *text,
                                                   size_t size);

/* The same of two ops: what the program asked, and what Reprise made of it. Never UNKNOWN. */
enum reprise_shadow_verdict reprise_shadow_compare_ops(const struct reprise_op *asked,
                                                       const struct reprise_op *op, char *text,
                                                       size_t size);

void reprise_shadow_free(struct reprise_graph *graph);
