/* Absent ops: the visit skips them if that is cheaper than a side exit. Under the lane's lock. */
#pragma once

#include "lane/lane.h"

/*
 * True if the call is one of the next ops of the followed trace: the ops before it are skipped, and
 * the cursor is at the call's op. Absent ops were neither called nor answered, and are not issued.
 */
bool reprise_lane_skip(struct reprise_lane *lane, const struct reprise_call *call);
