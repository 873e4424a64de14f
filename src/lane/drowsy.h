/*
 * A lane in which nothing has repeated for long falls drowsy: its ops pass without being looked at,
 * for longer and longer, but for a glance now and then. What the next op costs meanwhile is a load
 * and a branch (reprise_lanes_asleep, registry.h).
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/* Something repeats: the lane is watched closely for so many ops more, but never for longer than
 * REPRISE_AWAKE_OPS. */
static inline void reprise_lane_stay_awake(struct reprise_lane *lane, uint64_t ops)
{
	uint64_t most = lane->counts.ops + REPRISE_AWAKE_OPS;
	uint64_t until =
		(lane->awake_until > lane->counts.ops ? lane->awake_until : lane->counts.ops) + ops;

	lane->awake_until = until < most ? until : most;
	lane->drowsy_span = 0;
}

/* The rest of the question below, where it is not plain that the lane is awake. */
bool reprise_lane_nods(struct reprise_lane *lane);

/* Whether the op that came is not to be looked at: the lane is drowsy, or falls so now. */
static inline bool reprise_lane_is_drowsy(struct reprise_lane *lane)
{
	bool awake = lane->counts.ops < lane->awake_until &&
	             atomic_load_explicit(&lane->drowsy_ops, memory_order_relaxed) == 0;

	return __builtin_expect(!awake, 0) && reprise_lane_nods(lane);
}

/* There is no host memory to watch with. */
void reprise_lane_cannot_watch(struct reprise_lane *lane);
