/* The way of an op through its lane. */
#pragma once

#include "lane/lane.h"

/*
 * An op of the lane: answers it, or has it passed. Takes no lane's lock but this one's, and not
 * while passing. The lane's context is current.
 */
CUresult reprise_lane_handle_op(struct reprise_lane *lane, struct reprise_call *call);

/* Tells the series over time what was done since it was told last: once in a few hundred ops, and
 * for a report. Under the lane's lock. */
void reprise_lane_tell_series(struct reprise_lane *lane);
