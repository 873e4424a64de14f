/*
 * An op: a work enqueued on a stream, with the ops that have to finish before it may run.
 *
 * Ops never wait for one enqueued after them. An op holds references to the ops it waits for until
 * it has finished, and the engine holds one to each op until then; streams and events hold one to
 * the last op that concerns them.
 */
#pragma once

#include "sim.h"
#include "work.h"

enum sim_op_state {
	SIM_OP_MADE,    /* not enqueued */
	SIM_OP_BLOCKED, /* waits for others */
	SIM_OP_READY,
	SIM_OP_RUNNING,
	SIM_OP_DONE,
};

/* Where an op was enqueued, for the log: both ordinals in order of creation. */
struct sim_place {
	uint32_t context;
	uint32_t stream;
};

struct sim_op {
	struct sim_work *work; /* NULL for a mere point in the order */
	struct sim_context *context;
	struct sim_place place;
	uint64_t sequence; /* in order of submission */
	uint64_t ended_ns; /* virtual time */
	int priority; /* of a kernel: the stream's, unless the launch or the graph's node has its own */
	unsigned int references;
	unsigned int unmet; /* ops in `before` that have not finished */
	enum sim_op_state state;
	bool wanted;  /* something waits for it, directly or not */
	bool settled; /* running on a thread of its own, and paused at least once */
	size_t ready_position;
	VECTOR(struct sim_op *) before;
	VECTOR(struct sim_op *) after;
	VECTOR(uint64_t) edges; /* sequence numbers of all it was put after, for the log */
	/* What the host, and its own thread alone, had waited for when it was enqueued, for the log:
	 * sim_op_waited. */
	uint64_t host, own;
	struct sim_op *next_free;
};

/* A new op with one reference, the caller's. It takes its own reference to `work`, which may be
 * NULL. */
struct sim_op *sim_op_new(struct sim_context *context, struct sim_place place,
                          struct sim_work *work);
struct sim_op *sim_op_keep(struct sim_op *op);
void sim_op_drop(struct sim_op *op); /* NULL is ignored */

/* `op`, not yet enqueued, has to run after `before`, which may be NULL or finished. */
void sim_op_after(struct sim_op *op, struct sim_op *before);

/* Hands it to the engine. */
void sim_op_enqueue(struct sim_op *op);

/* The engine's: its work is done. Ops that waited for it may become ready. */
void sim_op_finish(struct sim_op *op);

/* The host knows now that the op has finished: for the log, what is enqueued from here on comes
 * after it. NULL is ignored, and so is an op of a context that has failed. */
void sim_op_waited(const struct sim_op *op);

/* Virtual time in nanoseconds. */
uint64_t sim_now(void);
