/* Finds the trace that begins with the current op, by what came before and by the op's values or
 * shape. Belongs to one lane, under its lock. */
#pragma once

#include "trace/trace.h"

#define REPRISE_INDEX_BUCKETS 1024

struct reprise_index {
	struct reprise_trace *by_value[REPRISE_INDEX_BUCKETS];
	struct reprise_trace *by_shape[REPRISE_INDEX_BUCKETS];
	/* by shape: traces whose first op is any-value */
	struct reprise_trace *by_any_value[REPRISE_INDEX_BUCKETS];
	/* all traces, by last use */
	struct reprise_trace *newest, *oldest;
	unsigned int count;
	uint64_t nodes;
};

void reprise_index_add(struct reprise_index *index, struct reprise_trace *trace);

/* Removes the trace, also as what follows others, begins with their ops, or is a part of them. */
void reprise_index_remove(struct reprise_index *index, struct reprise_trace *trace);

/*
 * The usable trace that begins with the values of `op` at `position`, or with any values of its
 * shape; NULL if there is none. Preferred: a trace that began as many ops after the last wait, then
 * the one followed last. A chain of one kernel looks alike everywhere, so the value before or the
 * distance from the wait must agree; near a wait, the distance must agree for a trace found by
 * shape. O(1) except for traces that begin alike.
 */
struct reprise_trace *reprise_index_find_value(const struct reprise_index *index,
                                               const struct reprise_position *position,
                                               const struct reprise_op *op, uint64_t now);
struct reprise_trace *reprise_index_find_shape(const struct reprise_index *index,
                                               const struct reprise_position *position,
                                               const struct reprise_op *op, uint64_t now);

/* The longest trace that begins with the ops of this one, is usable, and was launched before; or
 * this one. A call in the midst of a sequence has cut it for a while, and its parts have graphs;
 * what is whole again is replayed as a whole. */
static inline struct reprise_trace *reprise_index_longest(struct reprise_trace *trace, uint64_t now)
{
	while (__builtin_expect(trace->longer != NULL, 0) && trace->longer->replays > 0 &&
	       reprise_trace_usable(trace->longer, now))
		trace = trace->longer;
	return trace;
}

/* The trace of exactly these ops, built or not, with these values except at any-value ops; if
 * `placed`, only one that begins as many ops behind a wait. NULL if there is none. */
struct reprise_trace *reprise_index_same(const struct reprise_index *index,
                                         const struct reprise_position *position, bool placed,
                                         const struct reprise_op *ops, unsigned int count);

/* True if a trace that forks and joins begins with these ops, in shapes, and goes on. It may be in
 * cooldown, or not built. */
bool reprise_index_forks_on(const struct reprise_index *index,
                            const struct reprise_position *position, const struct reprise_op *ops,
                            unsigned int count);

/* The twin (trace.h) of these ops and values, usable or not. NULL: none. */
struct reprise_trace *reprise_index_twin(const struct reprise_index *index,
                                         const struct reprise_position *position,
                                         const struct reprise_op *ops, unsigned int count);

/*
 * A usable trace that agrees with this visit of `trace` so far (its first `done` ops) and continues
 * with `call`, in values too except at any-value ops. Failing that, unless `same_values`, one that
 * agrees in shapes. NULL if there is none. *coming: a trace with these values that is not built yet
 * or in cooldown, or NULL.
 */
struct reprise_trace *reprise_index_sibling(const struct reprise_index *index,
                                            const struct reprise_trace *trace, unsigned int done,
                                            const struct reprise_call *call, bool same_values,
                                            uint64_t now, struct reprise_trace **coming);

/* Makes op `at` any-value. */
void reprise_index_set_any_value(struct reprise_index *index, struct reprise_trace *trace,
                                 unsigned int at);

/* The trace was used now. */
void reprise_index_use(struct reprise_index *index, struct reprise_trace *trace);

/* `follower` came after `trace`. */
void reprise_index_follow(struct reprise_trace *trace, struct reprise_trace *follower);

/* The least recently used trace, except `except` and queued ones; NULL if there is none. */
struct reprise_trace *reprise_index_oldest(const struct reprise_index *index,
                                           const struct reprise_trace *except);
