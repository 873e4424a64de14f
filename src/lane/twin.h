/*
 * Twins: two traces of the same ops. Where values come by turns, among others that are new each time, no trace stands for either set alone, and both would be
 * patched in at each visit. Each twin's graph keeps the set that it had last, and a visit is launched from the one of which less is to be patched.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane.h"

/*
 * All ops of the followed trace have come, some with other values than its graph has: goes on with its twin, if that has other values of fewer. Makes one where
 * values come by turns.
 */
void reprise_lane_take_turns(struct reprise_lane *lane);
