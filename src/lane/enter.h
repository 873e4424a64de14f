/* Which trace an op begins, and whether it may be entered. Under the lane's lock; no trace is
 * followed. */
#pragma once

#include "lane/lane.h"

/* True if its graph may be launched behind what came before its first op. */
bool reprise_lane_may_enter(const struct reprise_lane *lane, const struct reprise_trace *trace);

/* Enters the expected trace, which is not NULL, if the call equals its first op in values. */
bool reprise_lane_enter_expected(struct reprise_lane *lane, const struct reprise_call *call);

/* Enters the trace that the call begins: one with its values, else the expected trace, else any of
 * its shape. `op` is the call's op. False if there is none. */
bool reprise_lane_enter_any(struct reprise_lane *lane, const struct reprise_op *op,
                            const struct reprise_call *call);
