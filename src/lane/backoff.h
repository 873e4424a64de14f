/*
 * Backoff: a lane in which nothing has repeated watches its ops for shorter and rarer periods. An
 * op that is not watched costs a load and a branch (reprise_lanes_back_off, registry.h).
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/* The slow part of reprise_lane_backs_off(). */
bool reprise_lane_try_back_off(struct reprise_lane *lane);

/* True if the op is not to be watched: the lane is in a backoff, or begins one now. */
static inline bool reprise_lane_backs_off(struct reprise_lane *lane)
{
	bool awake = lane->counts.ops < lane->backoff_at &&
	             atomic_load_explicit(&lane->backoff_ops, memory_order_relaxed) == 0;

	return __builtin_expect(!awake, 0) && reprise_lane_try_back_off(lane);
}

/* There is no host memory to watch with: backs off for a while. */
void reprise_lane_cannot_watch(struct reprise_lane *lane);
