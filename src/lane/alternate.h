/*
 * Twins: two traces of the same ops. Where values were new at each visit for a while a trace takes
 * any, and if two sets of them come by turns later, both would be patched in for ever. Each twin's
 * graph keeps the set that it had last, and a visit is launched from the one of which less is to be
 * patched.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/*
 * All ops of the followed trace have come, some with other values than its graph has: goes on with
 * its twin, if that has other values of fewer. Makes one where values come by turns.
 */
void reprise_lane_take_turns(struct reprise_lane *lane);
