#include "lane/backoff.h"

#include "lane/traces.h"
#include "lane/watching.h"

/* A lane in which nothing repeats backs off for BACKOFF_LEAST ops, then for twice as many each
 * time, up to BACKOFF_MOST. In between it watches WATCH_OPS ops. */
#define BACKOFF_LEAST 7168
#define BACKOFF_MOST 114688
#define WATCH_OPS 1024

/* The next `ops` ops are not watched. */
static void begin_backoff(struct reprise_lane *lane, uint32_t ops)
{
	reprise_lane_count(&lane->counts.ops, ops);
	reprise_lane_count(&lane->counts.backed_off, ops);
	atomic_store_explicit(&lane->backoff_ops, ops, memory_order_relaxed);
}

/* True if the op falls into a backoff. Such an op was counted when the backoff began. */
static bool is_in_backoff(struct reprise_lane *lane)
{
	uint32_t left = atomic_load_explicit(&lane->backoff_ops, memory_order_relaxed);

	if (left > 0)
		atomic_store_explicit(&lane->backoff_ops, left - 1, memory_order_relaxed);
	return left > 0;
}

bool reprise_lane_try_back_off(struct reprise_lane *lane)
{
	if (is_in_backoff(lane)) {
		reprise_lane_uncount(&lane->counts.ops, 1);
		return true;
	}
	if (lane->group != NULL)
		return false;
	reprise_lane_close_segment(lane, false);
	reprise_lane_move_to(lane, REPRISE_BEFORE_NOTHING);
	lane->backoff_span = lane->backoff_span == 0             ? BACKOFF_LEAST
	                     : lane->backoff_span < BACKOFF_MOST ? lane->backoff_span * 2
	                                                         : BACKOFF_MOST;
	begin_backoff(lane, lane->backoff_span);
	lane->backoff_at = lane->counts.ops + WATCH_OPS;
	return true;
}

void reprise_lane_cannot_watch(struct reprise_lane *lane)
{
	if (is_in_backoff(lane))
		return;
	reprise_lane_make_room(lane);
	reprise_lane_count(&lane->counts.ops, 1);
	begin_backoff(lane, WATCH_OPS);
}
