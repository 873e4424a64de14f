/*
 * Traces are made: of segments that came before, each planned as several (trace/plan.h), and of one
 * that the hold limit cut again and again. Their graphs are built behind the program's back.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/* reprise_watch_found, with the lane: a segment has repeated. */
void reprise_lane_make_traces(void *lane, struct reprise_segment *segment);

/* The program pauses before op `at` every time: two traces from now on, with the border there. */
void reprise_lane_split(struct reprise_lane *lane, struct reprise_trace *trace, unsigned int at);

/* A twin for the trace (twin.h), unless there is no room. */
void reprise_lane_make_alternate(struct reprise_lane *lane, struct reprise_trace *trace);

/* Where op `start` is of ops of which the first is at `first`. */
struct reprise_position reprise_lane_position_within(const struct reprise_op *ops,
                                                     const bool *any_value, unsigned int start,
                                                     const struct reprise_position *first);
