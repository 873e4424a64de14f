/*
 * What a lane does with ops that pass eagerly: it keeps them in its watch (trace/watch.h), segment
 * by segment, and makes traces of what has come before.
 *
 * Under the lane's lock. The watch is there.
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

/* It ends here, if one is open: at a barrier (`wait`: one that the host waits at), or because a
 * trace begins. */
static inline void reprise_lane_close_segment(struct reprise_lane *lane, bool wait)
{
	if (lane->watching)
		reprise_watch_end(lane->watch, wait, reprise_lane_make_traces, lane);
	lane->watching = false;
}

/* The op in the watch's slot came, so long after the one before. */
void reprise_lane_keep(struct reprise_lane *lane, const struct reprise_op *op, uint64_t gap_ticks);

/* An op that a side exit issued is watched like any other. */
void reprise_lane_watch_issued(struct reprise_lane *lane, const struct reprise_op *op,
                               uint64_t gap_ticks);
