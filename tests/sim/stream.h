/*
 * Streams: queues of ops, and the order among them that CUDA documents under "Stream
 * synchronization behavior": the legacy default stream waits for all blocking streams of its
 * context and they wait for it; other streams are ordered by events alone.
 */
#pragma once

#include "object.h"
#include "op.h"
#include "sim.h"

struct sim_capture;
struct sim_green;
struct sim_node;

enum sim_stream_kind {
	SIM_CREATED_STREAM,
	SIM_LEGACY_STREAM,
	SIM_PER_THREAD_STREAM,
};

typedef VECTOR(struct sim_op *) sim_ops;

struct sim_stream {
	struct sim_object object;
	struct sim_context *context;
	enum sim_stream_kind kind;
	uint64_t thread; /* of a per-thread stream */
	unsigned int flags;
	int priority;
	struct sim_green *green; /* that it was made in, or NULL */
	struct sim_place place;
	struct sim_place model; /* of the stream whose attributes were copied here: what is captured
	                           here counts as that one's, for the log. Else 0 */
	bool layers;            /* made in relaxed mode, by a layer */
	struct sim_place proxy; /* of the thread's own stream in whose place it gets work, for the
	                           log. Else 0 */
	struct sim_op *last;    /* the op enqueued last; NULL at first */
	sim_ops launched; /* where SIM_PENDING says how many may be pending: kernels and ends of graphs,
	                     some of which have finished */
	sim_ops functions; /* the same for SIM_FUNCTIONS: host functions with work behind them, and for
	                      each of a graph's the graph's end */
	CUlaunchAttributeValue attributes[CU_LAUNCH_ATTRIBUTE_MAX];

	struct sim_capture *capture;       /* while it captures */
	VECTOR(struct sim_node *) tail;    /* then: the nodes that the next one will depend on, */
	VECTOR(CUgraphEdgeData) tail_data; /* and what those edges will carry */
};

/* place.stream of a per-thread stream is its thread's number with this bit. */
#define SIM_PER_THREAD_PLACE 0x80000000u

struct sim_stream *sim_stream_new(struct sim_context *context, unsigned int flags, int priority,
                                  enum sim_stream_kind kind);
void sim_stream_free(struct sim_stream *stream);

/*
 * The stream behind a handle. 0 is the legacy default stream, or in a _ptsz entry point the
 * per-thread one; CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are what they say. NULL if the handle
 * is none.
 */
struct sim_stream *sim_stream_of(CUstream handle);

/* The stream that synchronous copies use: legacy, or in a _ptds entry point the per-thread one. */
struct sim_stream *sim_stream_default(void);

/* A layer makes its blocking stream wait for an event that a thread has recorded in its own default
 * stream: what it issues there counts as that stream's, for the log. */
void sim_stream_waits(struct sim_stream *stream, const struct sim_op *recorded);

/* A priority within the range there is. */
int sim_stream_priority(int priority);

/* Whether it takes part in the legacy stream's order. */
bool sim_stream_blocks(const struct sim_stream *stream);

/*
 * Adds work: to the capture if the stream captures, else as an op. The caller's reference to the
 * work is consumed, whatever the result. `ran`, unless NULL, becomes a reference to the op, or NULL
 * if the work was captured.
 */
CUresult sim_stream_add(struct sim_stream *stream, struct sim_work *work, struct sim_op **ran);

/* The same for a copy between memory of two contexts: on the legacy stream it takes its place in
 * the legacy order of both. NULL: no matter which. */
CUresult sim_stream_add_between(struct sim_stream *stream, struct sim_context *a,
                                struct sim_context *b, struct sim_work *work, struct sim_op **ran);

/*
 * Before other work than host functions, or a graph with so many turns: waits until there is room
 * for the turns from the host to the device, as SIM_FUNCTIONS says, a graph's launch with other
 * threads kept out. Afterwards they are the stream's.
 */
void sim_stream_make_turns(struct sim_stream *stream, size_t within, bool is_graph);
void sim_stream_turned(struct sim_stream *stream, struct sim_op *graph, size_t within);

/*
 * Around the launch of a kernel or a graph: waits until fewer are pending than SIM_PENDING says. So
 * does a wait for an event, which takes no place: no GPU was asked whether it does.
 */
void sim_stream_make_room(struct sim_stream *stream);
void sim_stream_launched(struct sim_stream *stream, struct sim_op *op);

/* Puts an op behind all that precedes it in the stream's order, and makes it the stream's last.
 * Enqueueing it is left to the caller. */
void sim_stream_append(struct sim_stream *stream, struct sim_op *op);

/* Puts an op behind the same, without making it the last. */
void sim_stream_order(struct sim_stream *stream, struct sim_op *op);
void sim_stream_set_last(struct sim_stream *stream, struct sim_op *op);
