/*
 * Whether the GPU is behind a loop that does not wait (turns.h). Its stream is queried before it is
 * given work, and not right after: a graph that has just been launched is under way in any case. So
 * turns want an answer at an anchor; it is had before the next launch in the lane, by whichever
 * thread makes that, or at the next anchor if there was none.
 *
 * While eager calls follow replays, the stream may also be looked at within the period: the moment
 * at which the GPU catches up tells what it took for the replays.
 *
 * A stream that the program may be capturing is not queried: that would end the capture.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "lane/lane.h"

/* The lane whose stream is to be queried. NULL: none. */
extern _Atomic(struct reprise_lane *) reprise_behind_wanted;

/* From now on an answer is wanted. `every`: in an eager turn, the stream is looked at every so many
 * ops as well, until it is seen to have caught up; 0: it is not. */
void reprise_behind_want(struct reprise_lane *lane, uint64_t every);

/* Queries. Under the lane's lock, or its queue's; its context is current. */
void reprise_behind_ask(struct reprise_lane *lane);

/* The lane is about to be given a launch. As reprise_behind_ask(). */
static inline void reprise_behind_before_launch(struct reprise_lane *lane)
{
	if (__builtin_expect(atomic_load_explicit(&reprise_behind_wanted, memory_order_relaxed) == lane,
	                     0))
		reprise_behind_ask(lane);
}

/* An op of an eager turn comes, the lane's op number `ops`. The lane is in no group. Takes no lock;
 * the lane's context is current. */
void reprise_behind_look(struct reprise_lane *lane, uint64_t ops);

static inline void reprise_behind_before_eager(struct reprise_lane *lane, uint64_t ops)
{
	if (__builtin_expect(atomic_load_explicit(&reprise_behind_wanted, memory_order_relaxed) == lane,
	                     0))
		reprise_behind_look(lane, ops);
}

/* True if a look has found the GPU idle since an answer was wanted last. *at_ns: when, on the
 * clock; *at_ops: by the lane's ops. */
bool reprise_behind_seen(uint64_t *at_ns, uint64_t *at_ops);

/* True if the GPU had caught up when it was asked. Nothing is wanted any more. As
 * reprise_behind_ask(). */
bool reprise_behind_take(struct reprise_lane *lane);

/* After fork, in the child. */
void reprise_behind_reset(void);
