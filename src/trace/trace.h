/*
 * A trace: a sequence of ops seen to repeat, the executable graph that stands for it, and what this
 * visit has changed.
 *
 * It belongs to one lane, under that lane's lock. While its graph is QUEUED (graph/graph.h) the
 * builder has the graph, and the ops do not change.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"
#include "op/op.h"
#include "trace/recurring.h"
#include "trace/site.h"

struct reprise_beside;

/* Why a visit ended by a side exit: the name in reports, that in timelines and tables, and what it
 * means. */
#define REPRISE_EXITS(X) \
	X(guard, "sequence changed", "another call came than the sequence has there") \
	X(values, "arguments changed", \
	  "other arguments came than the graph was built for; they may come again") \
	X(barrier, "needed at once", \
	  "a wait, a query or an order of streams needed them before the sequence was complete") \
	X(hold, "waited too long", "calls had been deferred for as long as the hold limit allows") \
	X(launch, "graph not launched", "the graph could not be patched or launched")

enum reprise_exit {
#define X(name, words, text) REPRISE_EXIT_##name,
	REPRISE_EXITS(X)
#undef X
		REPRISE_EXIT_COUNT
};

extern const char *const reprise_exit_names[REPRISE_EXIT_COUNT];
extern const char *const reprise_exit_words[REPRISE_EXIT_COUNT];

/* What became of a trace's visits, for the report. */
struct reprise_trace_counts {
	uint64_t patched; /* ops that had other values than at the visit before */
	uint64_t exits[REPRISE_EXIT_COUNT];
	uint64_t exited_ops;
	uint64_t losses; /* cooldowns because it did not pay */
};

struct reprise_trace {
	unsigned int count;
	unsigned int event_count;    /* records and waits */
	struct reprise_op *ops;      /* what the executable graph holds */
	struct reprise_op *incoming; /* this visit's op, where `changed` has its bit */
	uint64_t *changed;           /* a bit for each op */
	unsigned int changed_count;
	unsigned int brought; /* of the last visit, the same; 0: noted (lane/observe.h) */
	/* made of values that came again, in place of a trace that takes any values */
	bool twin;
	bool has_twins; /* such traces were made in its place */
	/* visits in a row that began with other values, and for which no other trace was found
	 * (lane/follow.c) */
	uint8_t no_other;
	/* a bit for each op that a pending visit brings to other values (lane/launch.h) */
	uint64_t *wanted;
	/* the number of its last visit in the lane's queue; 0: none */
	uint64_t pending_as;
	uint16_t direct; /* visits still to launch at once (lane/async_launch.c) */
	bool waited_for; /* the host waited when it was queued last */
	/* visits left to the launch thread since these were counted; how many of them the program's
	 * threads had to launch; and how often in a row that was more than half */
	uint8_t left, forced, forced_again;
	bool *any_value; /* ops that agree with any values */
	/* hash of the shapes before each op, and of all */
	uint64_t *shape_before;
	/* the first op was patched though it is not any-value: key_value is out of date */
	bool head_moved;

	struct reprise_graph graph;
	struct reprise_beside *beside; /* where the graph is launched beside its streams; else NULL */
	_Atomic(const void *) range_name; /* of its replays, for who listens (nvtx/listener.h) */

	struct reprise_position position; /* of its first op */
	bool placed;                      /* begun as many ops behind a wait alone */
	/* position.before with the first op's shape or value, as hashes */
	uint64_t key_shape, key_value;
	struct reprise_chain {
		struct reprise_trace *next,
			**at; /* `at` points here; NULL: not in this chain of the index */
	} by_shape, by_value, by_any_value;
	struct reprise_trace *newer, *older; /* all traces of the lane, by last use */
	uint64_t last_used;                  /* ticks: replayed, or made */
	struct reprise_trace *follower;      /* the trace that came after it last time */
	/* launched beside its streams: ops since a wait where the visit began that a wait cut last;
	 * UINT_MAX: none */
	unsigned int cut_at;
	/* the shortest that begins with these ops and goes on; the longest that these begin with; or
	 * NULL (trace/index.h) */
	struct reprise_trace *longer, *part;
	/* traces with this one as follower; the next one with the same follower; what points here */
	struct reprise_trace *leader, *next_leader, **led;

	uint8_t visit_class;   /* of short visits, else 0 (trace/classes.h) */
	int balance;           /* what it has gained, where timed (trace/balance.h) */
	int trust;             /* up with each replay, down with each side exit */
	unsigned int setbacks; /* cooldowns: each is twice as long as the last */
	/* the lane's count of ops at the cooldown's end; 0: none, or replayed since */
	uint64_t cooldown_until;
	bool may_return;        /* the cooldown is for side exits only */
	uint64_t last_followed; /* the lane's count of ops at the last replay */
	/* value misses, weighted, without another trace that has the values (lane/follow.c) */
	unsigned int value_misses;
	unsigned int held_at;    /* the op before which the program paused for long last */
	int held;                /* up with each such pause, down with each replay */
	uint64_t visits;         /* complete ones */
	uint64_t replays;        /* launches of its graph */
	uint64_t kin;            /* of all traces that are kin (trace/kin.h) */
	uint64_t earned_replays; /* of the replays, that its kin have been given */
	/* the lane's count of ops at the first failed patch or launch; 0: none, or recovered since */
	uint64_t failed_at;
	unsigned int refusals; /* visits in a row whose patch the driver refused */
	struct reprise_recurring recurring;
	struct reprise_trace_counts counts;
	size_t bytes;    /* of host memory */
	uint32_t gap_ns; /* the program's mean gap between its ops, when made */
};

/* Copies `count` ops and their `any_value`. NULL if there is no memory. The graph is EMPTY. */
struct reprise_trace *reprise_trace_new(const struct reprise_op *ops, const bool *any_value,
                                        unsigned int count, const struct reprise_position *position,
                                        struct reprise_capture_streams *capture_streams);

/* Frees host memory only: the graph must be retired, or gone with its context. */
void reprise_trace_free(struct reprise_trace *trace);

/* Op i with this visit's values. */
static inline const struct reprise_op *reprise_trace_op(const struct reprise_trace *trace,
                                                        unsigned int i)
{
	return (trace->changed[i / 64] >> (i % 64) & 1) != 0 ? &trace->incoming[i] : &trace->ops[i];
}

/* Notes that op i has the values of `call`, which matches it. */
void reprise_trace_change(struct reprise_trace *trace, unsigned int i,
                          const struct reprise_call *call);

/* Notes that op i has the values of `op`, of the same shape, unless it has them already. */
void reprise_trace_copy_values(struct reprise_trace *trace, unsigned int i,
                               const struct reprise_op *op);

/* True if the executable graph differs from this visit. */
static inline bool reprise_trace_needs_patch(const struct reprise_trace *trace)
{
	return trace->changed_count > 0 || trace->graph.mixed;
}

/* Ends the visit. `kept`: commits its values, which the graph has now; else rolls back. */
void reprise_trace_end_visit(struct reprise_trace *trace, bool kept);

/* True if the graph can be launched and no cooldown lasts. `now`: the lane's count of ops. */
bool reprise_trace_usable(const struct reprise_trace *trace, uint64_t now);

/* True if a replay now is the first one after a cooldown. */
static inline bool reprise_trace_comes_back(const struct reprise_trace *trace, uint64_t now)
{
	return trace->cooldown_until != 0 && trace->cooldown_until <= now;
}

/* A visit is complete. */
void reprise_trace_followed(struct reprise_trace *trace, uint64_t now);

/* Notes a long pause of the program before op `at`. True if that is so frequent that the trace
 * should end there. */
bool reprise_trace_note_held(struct reprise_trace *trace, unsigned int at);

/* `deferred`: the ops that are issued eagerly. */
void reprise_trace_note_side_exit(struct reprise_trace *trace, uint64_t now, unsigned int deferred);

/* Begins a cooldown, each time a longer one. */
void reprise_trace_begin_cooldown(struct reprise_trace *trace, uint64_t now);

/* This trace has the op that came instead of another trace's. Ends a cooldown that is for side
 * exits only, and is true then: otherwise each of the two traces would be left for the other, with
 * ever longer cooldowns. */
bool reprise_trace_return(struct reprise_trace *trace);
