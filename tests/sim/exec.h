/* Executable graphs: instantiation and launch (exec.c), single-node changes (exec_set.c),
 * whole-graph update (update.c). */
#pragma once

#include "graph.h"
#include "op.h"
#include "user_object.h"

/* A node as instantiated. Its work is its own: the source node may change. */
struct sim_exec_node {
	struct sim_node *source; /* as a name only: it may be gone */
	uint64_t serial;         /* the source's */
	struct sim_work *work;
	size_t before_first, before_count; /* in exec->before */
	struct sim_place place;            /* as the node's */
	int priority;                      /* that of the stream it was captured on */
};

struct sim_exec_edge {
	size_t position; /* of the node depended on */
	CUgraphEdgeData data;
};

struct sim_exec {
	struct sim_object object;
	struct sim_context *context;
	cuuint64_t flags;
	const struct sim_graph *graph; /* as a name only: it may be gone */
	uint64_t graph_serial;
	bool has_memory;                  /* memory nodes */
	struct sim_references references; /* those of the graph and its children */
	CUdevice device;
	size_t bytes;                   /* of the device's memory, */
	size_t graph_bytes, node_bytes; /* and of its context's heaps; 0 until it has them */
	struct sim_op
		*last; /* of the last launch: two launches of one executable graph never overlap */
	VECTOR(struct sim_exec_node) nodes; /* in the order of the graph */
	VECTOR(struct sim_exec_edge) before;
	VECTOR(size_t) order; /* positions so that each comes after those it depends on */
};

/* The context ends, and what its executable graphs have of its device's memory with it. Their
 * handles stay, as those of graphs do. */
void sim_exec_forget_context(struct sim_context *context);

/* Waits while a call of another thread drains the graph's context. */
void sim_exec_pass(const struct sim_exec *exec);

/* Takes the references that the graph holds in place of those it has. */
void sim_exec_take_references(struct sim_exec *exec, const struct sim_graph *graph);

/* Whether a node's work may take the place of another in an executable graph;
 * CU_GRAPH_EXEC_UPDATE_SUCCESS or why not. */
CUgraphExecUpdateResult sim_exec_may_become(const struct sim_work *old,
                                            const struct sim_work *wanted);

/* A reference to what a node of an executable graph is launched with. */
struct sim_work *sim_exec_work(struct sim_work *work);
