/*
 * Observing: keeps a lane's eager ops in its watch (trace/watch.h), segment by segment; makes
 * traces of what repeats; backs off where nothing does.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/group/group.h"
#include "lane/lane.h"
#include "lane/traces.h"

/* ---- making traces: of segments that repeat, each planned as several (trace/plan.h), and of a
 * trace that the hold limit cut again and again. The builder builds their graphs. ---- */

/* A reprise_watch_found with the lane as context: a segment has repeated. */
void reprise_lane_make_traces(void *lane, struct reprise_segment *segment);

/* The program pauses before op `at` every time: replaces the trace by two, split there. */
void reprise_lane_split(struct reprise_lane *lane, struct reprise_trace *trace, unsigned int at);

/* A visit that is over has brought other values to nodes of the trace's graph. If the values come
 * again, and setting them has cost more than a graph costs, makes a trace of them alone, a twin:
 * its graph needs no patch. While the lane's position is the visit's first. */
void reprise_lane_note_values(struct reprise_lane *lane, struct reprise_trace *trace);

/* The position of op `start` in a sequence whose first op is at `first`. */
struct reprise_position reprise_lane_position_within(const struct reprise_op *ops,
                                                     const bool *any_value, unsigned int start,
                                                     const struct reprise_position *first);

/* ---- watching: the watch exists ---- */

/* A segment begins with the next op, if none is open. */
static inline void reprise_lane_open_segment(struct reprise_lane *lane)
{
	if (!lane->watching) {
		reprise_watch_begin(lane->watch, &lane->position);
		if (lane->group != NULL)
			reprise_group_begin_segment(lane->group, reprise_watch_segment(lane->watch));
	}
	lane->watching = true;
}

/* The open segment, if any, ends here: at a barrier (`wait`: the host waits there), or because a
 * trace begins. */
static inline void reprise_lane_close_segment(struct reprise_lane *lane, bool wait)
{
	if (lane->watching)
		reprise_watch_end(lane->watch, wait, reprise_lane_make_traces, lane);
	lane->watching = false;
}

/* The op in the watch's slot came, `gap_ticks` after the last one. */
void reprise_lane_keep(struct reprise_lane *lane, const struct reprise_op *op, uint64_t gap_ticks);

/* Watches an op that a side exit issued. `waits_for`: as it was before. */
void reprise_lane_watch_issued(struct reprise_lane *lane, const struct reprise_op *op,
                               uint64_t gap_ticks, uint8_t waits_for);

/* ---- backoff: a lane in which calls come again, but nothing repeats, is not watched for a while,
 * each time longer. A lane in which no calls come again is scanned (trace/scan.h) until some do. An
 * op of either kind costs little (reprise_lanes_back_off, registry.h). ---- */

/* The slow part of reprise_lane_backs_off(). */
bool reprise_lane_try_back_off(struct reprise_lane *lane, const struct reprise_call *call);

/* True if the op is not to be watched: the lane is in a backoff or scans, or begins to. */
static inline bool reprise_lane_backs_off(struct reprise_lane *lane,
                                          const struct reprise_call *call)
{
	bool awake = lane->counts.ops < lane->backoff_at &&
	             atomic_load_explicit(&lane->backoff_ops, memory_order_relaxed) == 0;

	return __builtin_expect(!awake, 0) && reprise_lane_try_back_off(lane, call);
}

/* There is no host memory to watch an op with, which the caller has counted: backs off for a while,
 * if the lane does not yet. */
void reprise_lane_cannot_watch(struct reprise_lane *lane);
