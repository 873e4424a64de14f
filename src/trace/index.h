/*
 * How a lane finds the trace that begins with the op that just came: by what came before it and its
 * values, or its shape. Belongs to one lane, under its lock.
 */
#pragma once

#include "trace/trace.h"

#define REPRISE_INDEX_BUCKETS 1024

struct reprise_index {
	struct reprise_trace *by_value[REPRISE_INDEX_BUCKETS];
	struct reprise_trace *by_shape[REPRISE_INDEX_BUCKETS];
	struct reprise_trace
		*by_loose[REPRISE_INDEX_BUCKETS];  /* by shape, those of which the first op is loose */
	struct reprise_trace *newest, *oldest; /* all, by their last use */
	unsigned int count;
	uint64_t nodes;
};

void reprise_index_add(struct reprise_index *index, struct reprise_trace *trace);

/* Takes it out, also where other traces name it as their follower. */
void reprise_index_remove(struct reprise_index *index, struct reprise_trace *trace);

/*
 * The usable trace that begins with the values of `op` at `spot`, or that begins with any values of
 * its shape. Of several, one that began as many ops after the last wait as now, else the one
 * followed last. A chain of one kernel looks alike everywhere: so the value before must be the
 * same, or the place, and soon after a wait the place alone counts for a trace of any values. NULL
 * if there is none. O(1) but for traces that begin alike.
 */
struct reprise_trace *reprise_index_find_value(const struct reprise_index *index,
                                               const struct reprise_position *position,
                                               const struct reprise_op *op, uint64_t now);
struct reprise_trace *reprise_index_find_shape(const struct reprise_index *index,
                                               const struct reprise_position *position,
                                               const struct reprise_op *op, uint64_t now);

/* The trace of just these ops, built or not: with these values where it is not loose. NULL if there
 * is none. */
struct reprise_trace *reprise_index_same(const struct reprise_index *index,
                                         const struct reprise_position *position,
                                         const struct reprise_op *ops, unsigned int count);

/*
 * Another usable trace that agrees with what `trace` holds of this visit (its first `done` ops) and
 * goes on with `call`, in values too where it is not loose; failing that, unless `same_values`, one
 * that agrees in shapes. NULL if there is none. *coming: one with these values that is not built
 * yet or put aside, or NULL.
 */
struct reprise_trace *reprise_index_sibling(const struct reprise_index *index,
                                            const struct reprise_trace *trace, unsigned int done,
                                            const struct reprise_call *call, bool same_values,
                                            uint64_t now, struct reprise_trace **coming);

/* Any value will do at op `at` from now on. */
void reprise_index_set_any_value(struct reprise_index *index, struct reprise_trace *trace,
                                 unsigned int at);

/* The trace was used now. */
void reprise_index_use(struct reprise_index *index, struct reprise_trace *trace);

/* `follower` came after `trace`. */
void reprise_index_follow(struct reprise_trace *trace, struct reprise_trace *follower);

/* The least recently used trace, but for `except` and those in the building thread's hands; NULL if
 * there is none. */
struct reprise_trace *reprise_index_oldest(const struct reprise_index *index,
                                           const struct reprise_trace *except);
