/* What is noted of a visit to a trace, replayed (replay.h) or ended by a side exit (side_exit.h).
 * Under the lane's lock. */
#pragma once

#include "base/options.h"
#include "timeline/timeline.h"
#include "lane/lane.h"

/* True if a trace is followed only while it is measured to pay. */
static inline bool reprise_visit_is_measured(void)
{
	return reprise_option(REPRISE_OPTION_PAYS) == REPRISE_PAYS_MEASURED;
}

/* The trace costs more than it saves: begins a cooldown. */
static inline void reprise_visit_note_loss(struct reprise_lane *lane, struct reprise_trace *trace)
{
	reprise_trace_begin_cooldown(trace, lane->counts.ops);
	reprise_lane_count(&lane->counts.lost, 1);
	trace->counts.losses++;
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
