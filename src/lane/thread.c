#include "lane/thread.h"

#include <stdatomic.h>

#include "base/ending.h"
#include "graph/building.h"
#include "lane/barrier.h"
#include "lane/errors.h"
#include "lane/registry.h"
#include "lane/traces.h"

bool reprise_threads_clean_up(void)
{
	struct reprise_capture_streams capture_streams;
	bool any = false;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next) {
		if (atomic_load(&lane->owner) != REPRISE_OWNER_ENDED || atomic_load(&lane->retired))
			continue;
		reprise_lock_take(&lane->lock);
		reprise_lane_barrier(lane, false);
		reprise_lane_forget(lane);
		capture_streams = reprise_lane_take_capture_streams(lane);
		reprise_errors_stream_ended(lane->stream);
		reprise_lanes_retire(lane);
		reprise_lock_give(&lane->lock);
		reprise_lane_close(&capture_streams);
		any = true;
	}
	return any;
}

/* A lane that is made later reads the attributes when it is made. */
void reprise_thread_attributes_change(bool call_returned)
{
	struct reprise_lane *lane = reprise_lanes_known(CU_STREAM_PER_THREAD, true);
	bool own;

	if (lane == NULL)
		return;
	reprise_graph_building_pause();
	reprise_lock_take(&lane->lock);
	own = atomic_load(&lane->owner) == reprise_thread_self(); /* otherwise its context has ended */
	if (own && call_returned)
		reprise_lane_read_attributes(lane);
	else if (own)
		lane->capture_streams.carried.unknown = true;
	reprise_lock_give(&lane->lock);
	reprise_graph_building_resume();
}
