/*
 * The executable graph of a sequence of ops: how it is built, brought to new values, launched, and
 * put away.
 *
 * The ops belong to somebody else (a trace), who keeps them unchanged while the graph is QUEUED:
 * the building thread reads them then. In every other state only who holds the lane's lock touches
 * the graph.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"
#include "graph/carried.h"
#include "graph/forks.h"

enum reprise_graph_state {
	REPRISE_GRAPH_EMPTY,  /* nothing built, nothing asked for */
	REPRISE_GRAPH_QUEUED, /* the building thread has it */
	REPRISE_GRAPH_READY,
	REPRISE_GRAPH_FAILED, /* building failed; may be queued again */
};

/* How far the device is behind in a context (workers/quiescence.h). The builder's. */
struct reprise_quiescence {
	CUevent behind; /* comes after all work that the context had been given at `since`; NULL before
	                   the first */
	bool awaited;   /* `behind` was not reached when it was last looked at */
	uint64_t since;
	uint64_t lag_ns; /* how far the device was behind when that was last known */
};

/* The private, non-blocking streams that a lane's ops are captured on. Like the program's stream in
 * priority and attributes. */
struct reprise_capture_streams {
	CUcontext context;
	CUstream model;                 /* the program's stream */
	struct reprise_carried carried; /* if that is a thread's own; written by that thread while the
	                                   building thread rests */
	CUstream streams[REPRISE_SIDES];
	struct reprise_forks *forks; /* of a joint lane; else NULL */
	struct reprise_quiescence quiescence;
};

struct reprise_graph_node {
	CUgraphNode node;
	CUfunction function; /* as the driver gave them back: a CUkernel is refused as `func` */
	CUkernel kernel;
	bool settable; /* by itself: the driver has described it, and its kind is one that may be set */
	uint8_t refused; /* how often the driver would not */
};

struct reprise_shadow;
struct reprise_reclaim_entry;

struct reprise_graph {
	_Atomic int state; /* enum reprise_graph_state */
	uint8_t members;   /* a bit for each member of the lane that has ops in it; it is launched into
	                      the stream of its first op */
	bool mixed; /* some nodes were set and some could not be: not to be launched before a whole
	               update */
	unsigned int count;
	uint32_t number; /* in the order in which graphs were first built; 0 before */
	bool drawn;      /* (draw.h) */
	const struct reprise_op *ops;
	struct reprise_capture_streams *capture_streams;
	CUgraph graph;
	CUgraphExec executable;
	struct reprise_reclaim_entry *reclaim; /* for `executable`; NULL without one */
	struct reprise_graph_node *nodes;      /* `count` of them, the owner's memory */
	uint64_t *disabled;                    /* a bit for each node, the owner's memory */
	unsigned int disabled_count;
	uint64_t node_updates, updates,
		toggles; /* nodes set, whole updates, nodes disabled or enabled: for the report */
	struct reprise_shadow *shadow; /* (shadow.h); NULL unless verifying */
	unsigned int toggles_refused;  /* how often the driver would not disable or enable a node */
	struct reprise_graph *newer, *older; /* while it waits in the queue */
};

/* ---- patching (patch.c): under the lane's lock, with its context current ---- */

enum reprise_patch {
	REPRISE_PATCH_DONE,
	REPRISE_PATCH_REFUSED, /* the driver would not: the graph is whole, with the values that it had
	                        */
	REPRISE_PATCH_BROKEN,  /* the graph is `mixed`, or could not be launched */
	REPRISE_PATCH_NOT_NOW, /* the program keeps us from capturing at this moment */
};

/*
 * Brings the executable graph to this visit: op i is incoming[i] where bit i of `changed` is set,
 * else ops[i]; and where bit i of `absent` is set, the op did not come, and its node does nothing.
 */
enum reprise_patch reprise_graph_patch(struct reprise_graph *graph,
                                       const struct reprise_op *incoming, const uint64_t *changed,
                                       const uint64_t *absent);

/* Whether nodes can be disabled: the driver knows how, and has not refused too often. */
bool reprise_graph_may_disable(const struct reprise_graph *graph);

/* The executable graph is gone: the next has all its nodes enabled. */
void reprise_graph_all_enabled(struct reprise_graph *graph);

/* ---- putting away (graveyard.c) ---- */

/* What giving the graph up takes is made with it, so that there is no failure then. NULL if there
 * is no memory. */
struct reprise_reclaim_entry *reprise_reclaim_new(void);

/* Gives up the executable graph, which may still run; the building thread destroys it. EMPTY after.
 * Not for graphs that are QUEUED. */
void reprise_graph_retire(struct reprise_graph *graph);

/* Destroys what was given up, so many at most. By the building thread, or who does its work
 * (base/gate.h); leaves another context current. Returns how many. */
unsigned int reprise_reclaim_sweep(unsigned int most);

/*
 * The context, or if NULL any of them, may be about to end: what lies there is taken, while the
 * building thread is paused, and destroyed before the context ends. That may take as long as the
 * driver likes, so no lock is held then. Any context may be current.
 */
struct reprise_reclaim_entry *reprise_reclaim_take(CUcontext context);
void reprise_reclaim_destroy(struct reprise_reclaim_entry *graves);
/* It has ended, and what was left there with it. */
void reprise_reclaim_lose(CUcontext context);

/* After fork, in the child. */
void reprise_reclaim_reset(void);

/* ---- streams (workshop.c) ---- */

/* The private stream for ops of a member of the lane. */
CUstream reprise_capture_streams_of(const struct reprise_capture_streams *capture_streams,
                                    enum reprise_side side, unsigned int member);
/* Makes what capturing the graph takes, on both sides, unless it is there. In a lull of its context
 * (lull.h). False if the driver would not. */
bool reprise_capture_streams_open(const struct reprise_graph *graph);
/* Destroys its streams; the context must be current. */
void reprise_capture_streams_close(struct reprise_capture_streams *capture_streams);
/* Likewise the streams and events for forks, but for the tails. */
void reprise_forks_close(struct reprise_forks *forks);
