#include "lane/backoff.h"

#include "base/tuning.h"
#include "lane/traces.h"
#include "lane/watching.h"

/* A lane in which nothing repeats backs off for REPRISE_TUNE_BACKOFF_LEAST ops, then for twice as
 * many each
 * time, up to REPRISE_TUNE_BACKOFF_MOST. In between it watches REPRISE_TUNE_BACKOFF_WATCHED ops. */

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
	lane->backoff_span = lane->backoff_span == 0 ? REPRISE_TUNE_BACKOFF_LEAST
	                     : lane->backoff_span < REPRISE_TUNE_BACKOFF_MOST
	                         ? lane->backoff_span * 2
	                         : REPRISE_TUNE_BACKOFF_MOST;
	begin_backoff(lane, lane->backoff_span);
	lane->backoff_at = lane->counts.ops + REPRISE_TUNE_BACKOFF_WATCHED;
	return true;
}

void reprise_lane_cannot_watch(struct reprise_lane *lane)
{
	if (is_in_backoff(lane))
		return;
	reprise_lane_make_room(lane);
	reprise_lane_count(&lane->counts.ops, 1);
	begin_backoff(lane, REPRISE_TUNE_BACKOFF_WATCHED);
}
