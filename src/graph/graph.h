/*
 * The executable graph of a sequence of ops: building, patching, launching, giving up.
 *
 * The ops belong to the owner (a trace). While the graph is QUEUED the builder has it, and the
 * owner keeps the ops unchanged. In every other state the graph is under the lane's lock.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"
#include "graph/carried.h"

/*
 * Streams and events to capture graphs that fork over a stream group (lane/group/group.h).
 *
 * The builder uses one side; a thread that patches under the lane's lock uses the other. What a
 * member needs exists before a graph names the member, and until the last of these graphs is gone.
 */

#define REPRISE_MEMBERS_MOST 8      /* streams in a group; sets of members are bytes */
#define REPRISE_FORK_EVENTS_MOST 32 /* different events recorded in one graph */

enum reprise_side { REPRISE_FOR_BUILDING, REPRISE_FOR_PATCHING, REPRISE_SIDES };

struct reprise_forks {
	/* the program's streams; member 0 and its capture streams are in reprise_capture_streams */
	CUstream models[REPRISE_MEMBERS_MOST];
	CUstream streams[REPRISE_SIDES][REPRISE_MEMBERS_MOST];
	/* edges between branches; the last event begins roots, and joins branches at the end */
	CUevent edges[REPRISE_SIDES][REPRISE_FORK_EVENTS_MOST + 1];
	/* recorded by each graph at the branch's end; the stream's next work waits for it */
	CUevent branch_ends[REPRISE_MEMBERS_MOST];
	/* the stream that graphs beside the members' streams are launched into, and an event by which
	 * it comes behind those; NULL before the first such graph is built */
	CUstream beside;
	CUevent before;
	bool blocking; /* the members, or the first of them, where it is made */
};

enum reprise_graph_state {
	REPRISE_GRAPH_EMPTY,  /* nothing built, nothing asked for */
	REPRISE_GRAPH_QUEUED, /* the builder has it */
	REPRISE_GRAPH_READY,
	REPRISE_GRAPH_FAILED, /* building failed; may be queued again */
};

/* How far the device is behind in a context (workers/quiescence.h). The builder's. */
struct reprise_quiescence {
	/* comes after all work that the context had at `since`; NULL before the first */
	CUevent behind;
	bool awaited; /* `behind` was not reached at the last look */
	uint64_t since;
	uint64_t lag_ns; /* how far the device was behind, as last known */
};

/* For a thread's own default stream: where other threads issue what is deferred there
 * (lane/own_stream.h). */
struct reprise_proxy {
	/* ordered against the legacy stream as the thread's own is, with its attributes */
	CUstream stream;
	CUevent place; /* recorded in the thread's own stream: what is deferred comes behind it */
	CUevent done;  /* recorded in the proxy, behind what was issued there last */
};

/* The private streams of a lane, made in the building thread. The capture streams are non-blocking,
 * with the priority and attributes of the program's stream. */
struct reprise_capture_streams {
	CUcontext context;
	CUstream model; /* the program's stream */
	/* for a thread's own stream; written by that thread while the builder is paused */
	struct reprise_carried carried;
	CUstream streams[REPRISE_SIDES];
	struct reprise_proxy proxy;  /* of a thread's own stream; else zeroed */
	struct reprise_forks *forks; /* of a stream group; else NULL */
	struct reprise_quiescence quiescence;
};

struct reprise_graph_node {
	CUgraphNode node;
	CUfunction function; /* as the driver returned them: it refuses a CUkernel as `func` */
	CUkernel kernel;
	/* the driver described the node, and nodes of its kind can be set */
	bool settable;
	uint8_t refused; /* refusals to set it in a row */
};

struct reprise_shadow;
struct reprise_reclaim_entry;

struct reprise_graph {
	_Atomic int state; /* enum reprise_graph_state */
	/* a bit for each member with ops in it; it is launched into the stream of its first op,
	 * or beside them all */
	uint8_t members;
	/* launched beside its members' streams; of these, those that begin with the graph
	 * (trace/beside.h) */
	bool beside;
	uint8_t roots;
	/* only some nodes were set, or some were captured with less shared memory than their ops have:
	 * not to be launched before a whole update */
	bool mixed;
	unsigned int count;
	uint32_t number; /* in the order of the first builds; 0 before */
	bool drawn;      /* (graph/draw.c) */
	const struct reprise_op *ops;
	struct reprise_capture_streams *capture_streams;
	CUgraph graph;
	CUgraphExec executable;
	struct reprise_reclaim_entry *reclaim; /* for `executable`; NULL without one */
	struct reprise_graph_node *nodes;      /* `count` of them, in the owner's memory */
	uint64_t node_updates, updates;        /* for the report: nodes set, whole updates */
	struct reprise_shadow *shadow;         /* (graph/shadow.h); NULL unless verifying */
	struct reprise_graph *newer, *older;   /* in the build queue */
};

/* ---- patching (graph/patch.c): under the lane's lock, with its context current ---- */

enum reprise_patch {
	REPRISE_PATCH_DONE,
	REPRISE_PATCH_REFUSED, /* by the driver: the graph still has its old values */
	REPRISE_PATCH_BROKEN,  /* the graph is `mixed`, or could not be launched */
	REPRISE_PATCH_NOT_NOW, /* no capture is possible now, because of a call of the program's */
};

/* Brings the executable graph, which has other values or is `mixed`, to this visit: op i is
 * incoming[i] where bit i of `changed` is set, else ops[i]. */
enum reprise_patch reprise_graph_patch(struct reprise_graph *graph,
                                       const struct reprise_op *incoming, const uint64_t *changed);

/* ---- giving up (graph/reclaim.c) ---- */

/* Made with the graph, so that giving up needs no memory. NULL if there is no memory. */
struct reprise_reclaim_entry *reprise_reclaim_new(void);

/* Gives up the executable graph, which may still run; the builder destroys it. EMPTY after. Not for
 * QUEUED graphs. */
void reprise_graph_retire(struct reprise_graph *graph);

/* Destroys up to `most` graphs of the reclaim list; returns how many. By the builder, or a thread
 * in its place (base/gate.h). Leaves another context current. */
unsigned int reprise_reclaim_sweep(unsigned int most);

/* The context (NULL: any of them) may be about to end. Its entries are taken while the builder is
 * paused, and destroyed before the context ends. Destroying may take any time, so no lock is held
 * then. Any context may be current. */
struct reprise_reclaim_entry *reprise_reclaim_take(CUcontext context);
void reprise_reclaim_destroy(struct reprise_reclaim_entry *entries);
/* The context has ended, and with it the graphs left in its entries. */
void reprise_reclaim_lose(CUcontext context);

/* After fork, in the child. */
void reprise_reclaim_reset(void);

/* ---- capture streams (graph/capture_streams.c) ---- */

/* The capture stream of a member. */
CUstream reprise_capture_streams_of(const struct reprise_capture_streams *capture_streams,
                                    enum reprise_side side, unsigned int member);
/* Makes the streams and events for capturing the graph, on both sides, if missing, and the proxy
 * of a thread's own stream. In quiescence of its context (workers/quiescence.h). False if the
 * driver refused. */
bool reprise_capture_streams_open(const struct reprise_graph *graph);
/* Destroys the streams, the proxy too; the context must be current. */
void reprise_capture_streams_close(struct reprise_capture_streams *capture_streams);
/* The same for the streams and events of forks, except the branch ends. */
void reprise_forks_close(struct reprise_forks *forks);
