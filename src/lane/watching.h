/*
 * Watching: keeps a lane's eager ops in its watch (trace/watch.h), segment by segment, and makes
 * traces of what repeats.
 *
 * Under the lane's lock. The watch exists.
 */
#pragma once

#include "lane/group/group.h"
#include "lane/lane.h"
#include "lane/making.h"
#include "lane/traces.h"

/* A segment begins with the next op, if none is open. */
static inline void reprise_lane_open_segment(struct reprise_lane *lane)
{
	if (!lane->watching) {
		reprise_watch_begin(lane->watch, &lane->position);
		if (lane->group != NULL)
			lane->group->recent = 0;
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

/* Watches an op that a side exit issued. */
void reprise_lane_watch_issued(struct reprise_lane *lane, const struct reprise_op *op,
                               uint64_t gap_ticks);
