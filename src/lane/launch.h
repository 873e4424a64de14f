/*
 * Launches of complete visits: at once, or pending, by whichever thread. A visit counts once its
 * graph was launched.
 */
#pragma once

#include "base/options.h"
#include "timeline/timeline.h"
#include "graph/graph.h"
#include "lane/lane.h"

/* ---- what is noted of a visit, replayed or ended by a side exit: under the lane's lock ---- */

/* True if a trace is followed only while it is measured to pay. */
static inline bool reprise_visit_is_measured(void)
{
	return reprise_option(REPRISE_OPTION_PAYS) == REPRISE_PAYS_MEASURED;
}

/* True if the trace's visits are replayed only while their class is known to gain. */
static inline bool reprise_visit_is_judged(const struct reprise_trace *trace)
{
	return __builtin_expect(trace->visit_class != 0, 0) && !reprise_observing &&
	       reprise_visit_is_measured();
}

/* The trace costs more than it saves: begins a cooldown. */
static inline void reprise_visit_note_loss(struct reprise_lane *lane, struct reprise_trace *trace)
{
	reprise_trace_begin_cooldown(trace, lane->counts.ops);
	reprise_lane_count(&lane->counts.lost, 1);
	trace->counts.losses++;
}

/* Its patch or launch failed at this count of ops. */
static inline void reprise_visit_note_failure(struct reprise_lane *lane,
                                              struct reprise_trace *trace, uint64_t at)
{
	if (trace->failed_at != 0)
		return;
	trace->failed_at = at;
	lane->failed = trace;
}

/* The visit ended by a side exit, or its graph was not launched; `ops` ops were issued eagerly
 * instead. */
static inline void reprise_visit_note_exit(struct reprise_lane *lane, struct reprise_trace *trace,
                                           enum reprise_exit why, unsigned int ops)
{
	reprise_lane_count(&lane->counts.exits[why], 1);
	reprise_lane_count(&lane->counts.exited[why], ops);
	trace->counts.exits[why]++;
	trace->counts.exited_ops += ops;
}

/* The timeline's description of the followed trace. */
static inline struct reprise_timeline_about reprise_visit_about(const struct reprise_lane *lane,
                                                                const char *reason,
                                                                unsigned int ops)
{
	return (struct reprise_timeline_about){.lane = lane->number,
	                                       .reason = reason,
	                                       .graph = lane->trace->graph.number,
	                                       .ops = ops};
}

/* ---- launching ---- */

struct reprise_launch {
	struct reprise_trace *trace;
	/* The values that the graph needs: what reprise_graph_patch() takes. */
	const struct reprise_op *ops;
	const uint64_t *changed;
	unsigned int nodes; /* with other values */
};

/* Patches the trace's graph where needed, and launches it. If it was not launched, returns why: not
 * REPRISE_PATCH_DONE. The lane's context is current, and the caller is between
 * reprise_gate_begin_giving() and its end. Under the lane's lock; for a pending visit, under
 * `queue.lock` instead. */
enum reprise_patch reprise_launch_graph(struct reprise_lane *lane,
                                        const struct reprise_launch *launch);

/* The visit's graph was launched: counts its ops as replayed, `patched` of them with new values.
 * `now`: the lane's count of ops when the visit was complete. Under the lane's lock. */
void reprise_launch_count(struct reprise_lane *lane, struct reprise_trace *trace,
                          unsigned int patched, uint64_t now);

/* ---- pending launches ---- */

/*
 * Complete visits of a lane that the launch thread will launch, or a thread that
 * is about to issue something behind them.
 *
 * A visit's values are committed to its trace when the visit is added. The trace may then be
 * followed again at once. Its ops do not change until the visit is launched.
 *
 * Functions are under the lane's lock unless they say otherwise. Launching takes `queue.lock`, and
 * does not need `lane.lock`.
 */

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
