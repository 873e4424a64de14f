/* Which trace an op begins, and whether it may be entered. Under the lane's lock; no trace is
 * followed. */
#pragma once

#include "lane/lane.h"

/* Whether its graph may be launched after what came before its first op. */
bool reprise_lane_may_enter(const struct reprise_lane *lane, const struct reprise_trace *trace);

/* Enters the trace that came next last time, of which there is one, if the call is its first op in
 * the same values. */
bool reprise_lane_enter_expected(struct reprise_lane *lane, const struct reprise_call *call);

/*
 * Enters the trace that the call, which is `op`, begins: one with its values, else the one that
 * came next last time, else any of its shape. False if there is none.
 */
bool reprise_lane_enter_any(struct reprise_lane *lane, const struct reprise_op *op,
                            const struct reprise_call *call);
