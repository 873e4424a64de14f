/* Executable graphs: instantiation, launch, single-node changes (exec.c); whole-graph update (update.c). */
#pragma once

#include "graph.h"
#include "op.h"

/* A node as instantiated. Its work is its own: the source node may change. */
struct sim_exec_node {
	struct sim_node *source; /* as a name only: it may be gone */
	uint64_t serial;         /* the source's */
	struct sim_work *work;
	bool enabled;
	size_t before_first, before_count; /* in exec->before: positions of the nodes it depends on */
};

struct sim_exec {
	struct sim_object object;
	struct sim_context *context;
	cuuint64_t flags;
	CUdevice device;
	size_t bytes; /* of the device's memory */
	struct sim_op *last; /* of the last launch: two launches of one executable graph never overlap */
	VECTOR(struct sim_exec_node) nodes; /* in the order of the graph */
	VECTOR(size_t) before;
	VECTOR(size_t) order; /* positions so that each comes after those it depends on */
};

/* Whether a node's work may take the place of another in an executable graph; CU_GRAPH_EXEC_UPDATE_SUCCESS or why not. */
CUgraphExecUpdateResult sim_exec_may_become(const struct sim_work *old, const struct sim_work *wanted);
