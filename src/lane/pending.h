/*
 * Completed visits of a lane that wait to be launched, by the submission thread or by whoever is
 * about to issue anything behind them.
 *
 * A trace is settled when its visit is added, and may be followed again at once; but its ops, which
 * are what the queued visit asks, are not changed before that has been launched. Visits are added
 * under the lane's lock, as all functions here are called that do not say otherwise; who launches
 * one has the queue's lock, and may not have the lane's.
 */
#pragma once

#include "lane/lane.h"

static inline bool reprise_pending_is_full(const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->queue.added, memory_order_relaxed) -
	           reprise_pending_launched(lane) ==
	       REPRISE_PENDING_MOST;
}

/* Whether a visit of the trace's is queued. */
static inline bool reprise_pending_has(const struct reprise_lane *lane,
                                       const struct reprise_trace *trace)
{
	return trace->pending_as > reprise_pending_launched(lane);
}

/* The followed trace's visit is complete. Before the trace is settled: what the visit wants of the
 * graph is noted. Afterwards: it may be launched. */
void reprise_pending_note(struct reprise_lane *lane);
void reprise_pending_add(struct reprise_lane *lane);

/* Launches all that is queued. `wait`: the host is about to wait for it. Any context may be
 * current. */
void reprise_pending_finish(struct reprise_lane *lane, bool wait);

/* The same by a thread of ours, unless another thread is at it: false then. Else
 * reprise_pending_finish_taken() comes next. */
bool reprise_pending_try_take(struct reprise_lane *lane);
void reprise_pending_finish_taken(struct reprise_lane *lane);

/* Launches the oldest visit; NULL if none is queued. `by_us`: by a thread of ours. Under the
 * queue's lock, and what comes back is no longer there after that, unless the lane's is held, too.
 */
const struct reprise_pending *reprise_pending_launch_oldest(struct reprise_lane *lane, bool by_us);

/* Something that was queued has been launched. */
void reprise_pending_note_launched(struct reprise_lane *lane);

/* Visits of which the graph could not be launched are counted as such. */
void reprise_pending_note_failures(struct reprise_lane *lane);

static inline void reprise_pending_look_for_failures(struct reprise_lane *lane)
{
	if (__builtin_expect(atomic_load(&lane->queue.failed) != 0, 0))
		reprise_pending_note_failures(lane);
}
