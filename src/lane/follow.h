/*
 * A visit: which trace an op begins, whether it goes on where a guard failed, and its end.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/* ---- entering: no trace is followed ---- */

/* Enters the expected trace, which is not NULL, if the call equals its first op in values. */
bool reprise_lane_enter_expected(struct reprise_lane *lane, const struct reprise_call *call);

/* Enters the trace that the call begins: one with its values, else the expected trace, else any of
 * its shape. `op` is the call's op. False if there is none. */
bool reprise_lane_enter_any(struct reprise_lane *lane, const struct reprise_op *op,
                            const struct reprise_call *call);

/* ---- a guard that failed ---- */

/*
 * The call does not agree with the op at the cursor of the followed trace; `match` says how it
 * matches. True if the visit goes on: with a sibling that agrees, or with new values where the
 * trace is any-value. Otherwise *why is the reason for the side exit.
 */
bool reprise_lane_go_on(struct reprise_lane *lane, const struct reprise_call *call,
                        enum reprise_match match, enum reprise_exit *why);

/* A value miss ended a visit of the trace before op `at`; `op` has the other values. After enough
 * of these the op becomes any-value. */
void reprise_lane_note_value_miss(struct reprise_lane *lane, struct reprise_trace *trace,
                                  unsigned int at, const struct reprise_op *op);

/* ---- the end: all ops of the trace have come, and the graph takes their place ---- */

/* Launches the followed trace's graph with this visit's values, or leaves that to the launch
 * thread. If the driver refuses, issues the ops eagerly. Returns the answer to the last op. The
 * lane's context is current. */
CUresult reprise_lane_replay(struct reprise_lane *lane);

/* While observing: the same without launching anything. */
void reprise_lane_replay_observed(struct reprise_lane *lane);
