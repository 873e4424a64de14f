/*
 * Alternate graphs: two traces of the same ops, each with a graph that keeps the values it had
 * last. If two sets of values come by turns where a trace is any-value, one graph would be patched
 * at every visit. With two, a visit is launched from the one that needs fewer patches.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/* All ops of the followed trace have come, some with other values than its graph has. Changes over
 * to its alternate if that differs in fewer ops. Makes an alternate if values come by turns. */
void reprise_lane_take_turns(struct reprise_lane *lane);
