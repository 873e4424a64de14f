/* A guard that failed: whether the visit goes on all the same. Under the lane's lock. */
#pragma once

#include "lane/lane.h"

/*
 * The call, which so matches the op at the cursor of the followed trace, does not agree with it.
 * True if the visit goes on: with a sibling that it agrees with, with a later op, those before it
 * being absent, or with other values where the trace is loose. If it does not, *why is the reason
 * to leave.
 */
bool reprise_lane_go_on(struct reprise_lane *lane, const struct reprise_call *call,
                        enum reprise_match match, enum reprise_exit *why);

/* Goes on with another trace, which has to agree in shapes with all that has come in this visit,
 * and takes over its values. */
void reprise_lane_change_over(struct reprise_lane *lane, struct reprise_trace *other);

/* The trace was left before op `at` because of the values of `op`. If they are new, or nothing
 * helps, any will do there from now on. */
void reprise_lane_note_value_miss(struct reprise_lane *lane, struct reprise_trace *trace,
                                  unsigned int at, const struct reprise_op *op);
