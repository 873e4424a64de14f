/*
 * Pending launches: complete visits of a lane that the launch thread will launch, or a thread that
 * is about to issue something behind them.
 *
 * A visit's values are committed to its trace when the visit is added. The trace may then be
 * followed again at once. Its ops do not change until the visit is launched.
 *
 * Functions are under the lane's lock unless they say otherwise. Launching takes `queue.lock`, and
 * does not need `lane.lock`.
 */
#pragma once

#include "lane/lane.h"

static inline bool reprise_pending_is_full(const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->queue.added, memory_order_relaxed) -
	           reprise_pending_launched(lane) ==
	       REPRISE_PENDING_MOST;
}

/* True if a launch of the trace is pending. */
static inline bool reprise_pending_has(const struct reprise_lane *lane,
                                       const struct reprise_trace *trace)
{
	return trace->pending_as > reprise_pending_launched(lane);
}

/* True if no visit is pending, and all that were launched are counted. */
static inline bool reprise_pending_all_counted(const struct reprise_lane *lane)
{
	return lane->queue.counted == atomic_load_explicit(&lane->queue.added, memory_order_relaxed);
}

/* The followed trace's visit is complete. prepare(): before the commit, notes which values the
 * graph needs. add(): after the commit, makes the visit a pending launch. */
void reprise_pending_prepare(struct reprise_lane *lane);
void reprise_pending_add(struct reprise_lane *lane);

/* Makes all pending launches. `wait`: the host is about to wait for them. Any context may be
 * current. */
void reprise_pending_finish_all(struct reprise_lane *lane, bool wait);
static inline void reprise_pending_finish(struct reprise_lane *lane, bool wait)
{
	if (__builtin_expect(!reprise_pending_all_counted(lane), 0))
		reprise_pending_finish_all(lane, wait);
}

/* The same by the hold thread. False if another thread is launching; otherwise the caller calls
 * reprise_pending_finish_taken() next. */
bool reprise_pending_try_take(struct reprise_lane *lane);
void reprise_pending_finish_taken(struct reprise_lane *lane);

/* Launches the oldest visit and returns it; NULL if none is pending. `by_us`: by a thread of
 * Reprise. Under `queue.lock`. The entry may be reused once `queue.lock` drops, unless `lane.lock`
 * is held. */
const struct reprise_pending *reprise_pending_launch_oldest(struct reprise_lane *lane, bool by_us);

/* Pending launches were made: updates the hold and the counts. */
void reprise_pending_note_launched(struct reprise_lane *lane);

/* Counts the visits that were launched since the last time. */
void reprise_pending_count(struct reprise_lane *lane);
