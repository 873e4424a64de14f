#include "lane/backlog.h"

#include "base/keep.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "lane/group/group.h"
#include "lane/pending.h"
#include "lane/registry.h"

static bool is_done(struct reprise_lane *lane)
{
	if (!reprise_pending_none(lane))
		return false;
	if (lane->group == NULL)
		return reprise_driver_query(lane->stream) == CUDA_SUCCESS;
	for (unsigned int i = 0; i < lane->group->count; i++)
		if (reprise_driver_query(lane->group->streams[i]) != CUDA_SUCCESS)
			return false;
	return true;
}

bool reprise_backlog_ask(struct reprise_lane *lane)
{
	if (reprise_observing)
		return true;
	if (lane->counts.ops < lane->backlog.ask_at)
		return false;
	if (is_done(lane)) {
		reprise_backlog_done(lane);
		return true;
	}
	lane->backlog.ask_at = lane->counts.ops + REPRISE_TUNE_BACKLOG_AGAIN;
	reprise_count(REPRISE_COUNT_functions_behind, 1);
	return false;
}

void reprise_note_callback(CUstream stream, bool per_thread)
{
	REPRISE_KEEP_ERRNO;
	struct reprise_lane *lane = reprise_lanes_known(stream, per_thread);

	if (lane != NULL)
		atomic_fetch_add_explicit(&reprise_lane_head(lane)->backlog.callbacks, 1,
		                          memory_order_relaxed);
}
