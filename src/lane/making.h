/*
 * Makes traces: of segments that repeat, each planned as several (trace/plan.h), and of a trace
 * that the hold limit cut again and again. The builder builds their graphs.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/* A reprise_watch_found with the lane as context: a segment has repeated. */
void reprise_lane_make_traces(void *lane, struct reprise_segment *segment);

/* The program pauses before op `at` every time: replaces the trace by two, split there. */
void reprise_lane_split(struct reprise_lane *lane, struct reprise_trace *trace, unsigned int at);

/* The position of op `start` in a sequence whose first op is at `first`. */
struct reprise_position reprise_lane_position_within(const struct reprise_op *ops,
                                                     const bool *any_value, unsigned int start,
                                                     const struct reprise_position *first);
