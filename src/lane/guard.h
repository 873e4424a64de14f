/* A guard that failed: whether the visit goes on. Under the lane's lock. */
#pragma once

#include "lane/lane.h"

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
