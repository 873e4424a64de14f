/*
 * A lane in which nothing has repeated for long falls drowsy: its ops pass without being looked at,
 * for longer and longer, but for a glance now and then. What the next op costs meanwhile is a load
 * and a branch (reprise_lanes_back_off, registry.h).
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/* The rest of the question below, where it is not plain that the lane is awake. */
bool reprise_lane_try_back_off(struct reprise_lane *lane);

/* Whether the op that came is not to be looked at: the lane is drowsy, or falls so now. */
static inline bool reprise_lane_backs_off(struct reprise_lane *lane)
{
	bool awake = lane->counts.ops < lane->backoff_at &&
	             atomic_load_explicit(&lane->backoff_ops, memory_order_relaxed) == 0;

	return __builtin_expect(!awake, 0) && reprise_lane_try_back_off(lane);
}

/* There is no host memory to watch with. */
void reprise_lane_cannot_watch(struct reprise_lane *lane);
