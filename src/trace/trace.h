/*
 * A trace: a sequence of ops seen to repeat, the executable graph that stands for it, and what this
 * visit has changed.
 *
 * All of it belongs to one lane and is touched under that lane's lock, but for the graph while it
 * is QUEUED (graph/graph.h): then the ops are not to be changed either.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"
#include "op/op.h"
#include "trace/position.h"

/* Why a trace was left before its end; the deferred ops were issued eagerly. */
#define REPRISE_EXITS(X) \
	X(guard, "another op came than the trace expects") \
	X(values, "other values came than those that the trace stands for; they may come again") \
	X(barrier, "a call came that may observe the stream, or order it") \
	X(hold, "the hold limit") \
	X(launch, "the graph could not be patched or launched")

enum reprise_exit {
#define X(name, text) REPRISE_EXIT_##name,
	REPRISE_EXITS(X)
#undef X
		REPRISE_EXIT_COUNT
};

/* Their names in reports and timelines. */
extern const char *const reprise_exit_names[REPRISE_EXIT_COUNT];

/* What became of a trace's visits, for the report. */
struct reprise_trace_counts {
	uint64_t patched; /* ops that had other values than at the visit before */
	uint64_t absent;
	uint64_t exits[REPRISE_EXIT_COUNT];
	uint64_t exited_ops;
	uint64_t losses; /* times that it was put aside because it did not pay */
};

struct reprise_trace {
	unsigned int count;
	unsigned int event_count;    /* ops that are records of events or waits */
	struct reprise_op *ops;      /* what the executable graph holds */
	struct reprise_op *incoming; /* this visit's, where `changed` says so */
	uint64_t *changed;           /* a bit for each op */
	unsigned int changed_count;
	uint64_t
		*wanted; /* a bit for each op that a queued visit brings to other values (lane/pending.h) */
	uint64_t pending_as; /* the count of what the lane's queue was given, when that was its visit
	                       last; 0: never */
	uint16_t direct,
		direct_span;  /* so many visits are launched at once, and so many were last time */
	bool waited_for;  /* the host waited when it was queued last */
	uint64_t *absent; /* a bit for each op before the cursor that did not come in this visit:
	                     neither answered nor to be issued */
	unsigned int absent_count;
	uint16_t *absences; /* how often each op was the first of those that were passed over */
	bool *any_value;    /* ops whose values are new at every visit: any will do */
	uint64_t
		*shape_before; /* at i: hash of the shapes of the ops before op i; `count` + 1 of them */
	struct reprise_trace *alternate; /* (lane/alternate.h) */
	unsigned int
		returned;       /* ops to which this visit brings the values that they had two visits ago */
	unsigned int turns; /* up with these, down with visits that have few of them */
	bool
		head_moved; /* the first op was patched though it is not loose: key_value no longer tells */

	struct reprise_graph graph;

	struct reprise_position position; /* of its first op */
	uint64_t key_shape,
		key_value; /* spot.before with the first op's shape or value: how it is found */
	struct reprise_chain {
		struct reprise_trace *next, **at; /* `at` points here */
	} by_shape, by_value,
		by_loose; /* chains of the index, by key; not in that for which `at` is NULL */
	struct reprise_trace *newer, *older; /* all traces of the lane, by their last use */
	uint64_t last_used;                  /* ticks: replayed, or made */
	struct reprise_trace *follower;      /* the trace that came after it last time */
	struct reprise_trace *leader, *next_leader,
		**led; /* the traces that it follows; the next one with this follower, and what points here
	            */

	int balance;             /* what it has gained, as far as was timed (balance.h) */
	int trust;               /* up with each replay, down with each side exit */
	unsigned int setbacks;   /* how often it was put aside: each time twice as long */
	uint64_t cooldown_until; /* the lane's count of ops until which it is not followed; 0 if it was
	                         replayed since */
	bool may_return;         /* it is put aside for side exits alone */
	uint64_t last_followed;  /* the same count, when it was last replayed */
	unsigned int foreign_calls; /* how often other values came where it is not loose, and no other
	                           trace had them */
	unsigned int held_at;       /* the op before which the program paused for long last, */
	int held;                   /* up each time that it did so there, down with each replay */
	uint64_t replays;
	uint64_t failed_at; /* the lane's count of ops when its graph could not be patched or launched;
	                       0 if it was replayed since */
	unsigned int refusals; /* visits one after another that the driver refused the graph */
	struct reprise_trace_counts counts;
	size_t bytes;    /* of host memory */
	uint32_t gap_ns; /* the program's mean pause between its ops, when it was made */
};

/* Copies `count` ops, and which of them are loose. NULL if there is no memory. The graph is EMPTY.
 */
struct reprise_trace *reprise_trace_new(const struct reprise_op *ops, const bool *any_value,
                                        unsigned int count, const struct reprise_position *position,
                                        struct reprise_capture_streams *capture_streams);

/* Frees host memory only: the graph must have been retired or be gone with its context. */
void reprise_trace_free(struct reprise_trace *trace);

/* The op as this visit wants it. */
static inline const struct reprise_op *reprise_trace_op(const struct reprise_trace *trace,
                                                        unsigned int i)
{
	return (trace->changed[i / 64] >> (i % 64) & 1) != 0 ? &trace->incoming[i] : &trace->ops[i];
}

/* Notes that op i has the values of `call`, which matches it. */
void reprise_trace_change(struct reprise_trace *trace, unsigned int i,
                          const struct reprise_call *call);

/* Notes that op i, of the same shape, has the values of `op`, unless it has them already. */
void reprise_trace_copy_values(struct reprise_trace *trace, unsigned int i,
                               const struct reprise_op *op);

static inline bool reprise_trace_absent(const struct reprise_trace *trace, unsigned int i)
{
	return (trace->absent[i / 64] >> (i % 64) & 1) != 0;
}

/* Notes that the `count` ops from `first` on do not come in this visit. */
void reprise_trace_skip(struct reprise_trace *trace, unsigned int first, unsigned int count);

/* Whether the executable graph is not as this visit wants it. */
static inline bool reprise_trace_needs_patch(const struct reprise_trace *trace)
{
	return (trace->changed_count | trace->absent_count | trace->graph.disabled_count) != 0 ||
	       trace->graph.mixed;
}

/* The visit is over. `kept`: the graph has this visit's values now. */
void reprise_trace_end_visit(struct reprise_trace *trace, bool kept);

/* True if the graph can be launched and the trace is not put aside. `now`: the lane's count of ops.
 */
bool reprise_trace_usable(const struct reprise_trace *trace, uint64_t now);

/* Whether a replay now is its first since the time for which it was put aside is over. */
static inline bool reprise_trace_comes_back(const struct reprise_trace *trace, uint64_t now)
{
	return trace->cooldown_until != 0 && trace->cooldown_until <= now;
}

void reprise_trace_succeeded(struct reprise_trace *trace, uint64_t now);
/* Notes that the program paused for long before op `at`. True if it does so there so often that the
 * trace should end there. */
bool reprise_trace_note_held(struct reprise_trace *trace, unsigned int at);

void reprise_trace_disappointed(struct reprise_trace *trace, uint64_t now);

/* Puts it aside at once, each time for longer. */
void reprise_trace_begin_cooldown(struct reprise_trace *trace, uint64_t now);

/*
 * What came instead of another trace's op is this one's. If it is put aside for side exits alone,
 * it can be followed again from now on, and that is true. Else each of the two would be left for
 * want of the other, and put aside for ever longer.
 */
bool reprise_trace_return(struct reprise_trace *trace);
