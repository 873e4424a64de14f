#include "lane/backoff.h"

#include "lane/traces.h"
#include "lane/watching.h"

/* A lane in which nothing repeats backs off for DROWSY_LEAST ops, then for twice as many each time,
 * up to DROWSY_MOST. In between it watches GLANCE_OPS ops. */
#define DROWSY_LEAST 7168
#define DROWSY_MOST 114688
#define GLANCE_OPS 1024

/* The next `ops` ops are not watched. */
static void leave_alone(struct reprise_lane *lane, uint32_t ops)
{
	reprise_lane_count(&lane->counts.ops, ops);
	reprise_lane_count(&lane->counts.drowsy, ops);
	atomic_store_explicit(&lane->backoff_ops, ops, memory_order_relaxed);
}

/* True if the op falls into a backoff. Such an op was counted when the backoff began. */
static bool is_left_alone(struct reprise_lane *lane)
{
	uint32_t left = atomic_load_explicit(&lane->backoff_ops, memory_order_relaxed);

	if (left > 0)
		atomic_store_explicit(&lane->backoff_ops, left - 1, memory_order_relaxed);
	return left > 0;
}

bool reprise_lane_try_back_off(struct reprise_lane *lane)
{
	if (is_left_alone(lane)) {
		reprise_lane_uncount(&lane->counts.ops, 1);
		return true;
	}
	if (lane->group != NULL)
		return false;
	reprise_lane_close_segment(lane, false);
	reprise_lane_move_to(lane, REPRISE_BEFORE_NOTHING);
	lane->backoff_span = lane->backoff_span == 0            ? DROWSY_LEAST
	                     : lane->backoff_span < DROWSY_MOST ? lane->backoff_span * 2
	                                                        : DROWSY_MOST;
	leave_alone(lane, lane->backoff_span);
	lane->backoff_at = lane->counts.ops + GLANCE_OPS;
	return true;
}

void reprise_lane_cannot_watch(struct reprise_lane *lane)
{
	if (is_left_alone(lane))
		return;
	reprise_lane_make_room(lane);
	reprise_lane_count(&lane->counts.ops, 1);
	leave_alone(lane, GLANCE_OPS);
}
