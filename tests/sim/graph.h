/*
 * Graphs: nodes in order of creation, each a work (graph.c), and the edges between them (edge.c);
 * nodes made and set by the program (node.c), and what their parameters mean (params.c).
 */
#pragma once

#include "object.h"
#include "op.h"
#include "sim.h"
#include "user_object.h"
#include "work.h"

struct sim_node {
	struct sim_object object;
	struct sim_graph *graph;
	struct sim_work *work;
	size_t position; /* in the graph */
	int priority; /* of the stream it was captured from; an attribute of the launch goes before it
	               */
	struct sim_place
		place;     /* of the stream whose ops are captured, if it is known (stream.h); else 0 */
	bool captured; /* by a capture, not made explicitly */
	bool excused;  /* taken out of a capture's dependencies: need not be joined */
	uint64_t cloned_from;                /* the serial of the node it was cloned from; 0 for none */
	VECTOR(struct sim_node *) before;    /* in the order in which the edges were made */
	VECTOR(CUgraphEdgeData) before_data; /* of those edges */
	VECTOR(struct sim_node *) after;
};

struct sim_graph {
	struct sim_object object;
	uint64_t context; /* the serial of the one that was current when it was made; 0 if none was */
	bool is_child;    /* owned by a node: not to be destroyed by the program */
	bool is_moved;    /* a child that was not cloned: its handle is the one that the program knew */
	unsigned int
		executable; /* executable graphs of it that exist; counted if it has memory nodes */
	VECTOR(struct sim_node *) nodes;
	struct sim_references references;
};

struct sim_graph *sim_graph_new(void);
void sim_graph_free(struct sim_graph *graph);
struct sim_graph *sim_graph_clone(const struct sim_graph *graph);

/* Takes a reference to the work. `data` of the edges, or NULL. */
struct sim_node *sim_graph_add(struct sim_graph *graph, struct sim_work *work,
                               struct sim_node *const *before, const CUgraphEdgeData *data,
                               size_t count);
CUresult sim_graph_connect(struct sim_node *from, struct sim_node *to, const CUgraphEdgeData *data);

/* Takes the node out of all edges. */
void sim_graph_disconnect(struct sim_node *node);

bool sim_edge_is_plain(const CUgraphEdgeData *data);

/* Whether an edge between nodes of such types may carry the data. */
bool sim_edge_may_be(CUgraphNodeType from, CUgraphNodeType to, const CUgraphEdgeData *data);

/* Gives the node other work of the same kind; consumes the caller's reference. */
void sim_node_set(struct sim_node *node, struct sim_work *work);

/*
 * Node parameters as a work of that type. `old`, unless NULL, is the work that it will replace:
 * launch attributes are kept, and memory nodes and child graphs refused. The alternative to success
 * is mostly CUDA_ERROR_INVALID_VALUE; CUDA_ERROR_INVALID_HANDLE if `func` is a CUkernel (measured:
 * it is refused there, and belongs in `kern`).
 */
CUresult sim_params_work(struct sim_work **made, struct sim_graph *graph, CUgraphNodeParams *params,
                         const struct sim_work *old);

/* Whether all bytes that the type does not use are zero. */
bool sim_params_are_clean(const CUgraphNodeParams *params);
