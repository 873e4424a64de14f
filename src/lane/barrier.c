#include "lane/barrier.h"

#include "lane/ended_events.h"
#include "lane/side_exit.h"
#include "lane/pace.h"
#include "lane/pending.h"
#include "lane/watching.h"

void reprise_lane_barrier(struct reprise_lane *lane, bool wait)
{
	reprise_pending_finish(lane, wait);
	reprise_lane_side_exit(lane, REPRISE_EXIT_barrier);
	reprise_lane_close_segment(lane, wait);
	if (__builtin_expect(reprise_ended_any(lane), 0))
		reprise_ended_forget(lane);
	reprise_lane_move_to(lane, wait ? REPRISE_BEFORE_WAIT : REPRISE_BEFORE_BARRIER);
	if (wait) {
		lane->position.since_wait = 0;
		reprise_pace_wait(lane);
	}
	/* `attended` stays until the next barrier without news: a loop that waits once in each
	 * iteration must not write what all threads read. A group has to be told of every call on its
	 * streams. */
	atomic_store_explicit(&lane->noisy, lane->group != NULL, memory_order_relaxed);
}

bool reprise_lane_is_to_be_told(const struct reprise_lane *lane)
{
	return reprise_lane_has_news(lane) || atomic_load(&lane->attended);
}

void reprise_lane_told(struct reprise_lane *lane, bool wait)
{
	if (reprise_lane_has_news(lane)) /* news may have come since the check without the lock */
		reprise_lane_barrier(lane, wait);
	else
		reprise_lane_unattend(lane);
}

void reprise_lane_tell(struct reprise_lane *lane, bool wait)
{
	if (!reprise_lane_is_to_be_told(lane))
		return;
	reprise_lock_take(&lane->lock);
	reprise_lane_told(lane, wait);
	reprise_lock_give(&lane->lock);
}

bool reprise_lane_defers(const struct reprise_lane *lane, CUevent event)
{
	for (unsigned int i = 0; i < lane->cursor; i++)
		if (lane->trace->ops[i].kind == REPRISE_OP_RECORD && lane->trace->ops[i].event == event)
			return true;
	return false;
}
