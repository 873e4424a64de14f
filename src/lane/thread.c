/*
 * A thread that ends only marks its lanes, so that no call of ours to the driver is made from its
 * destructors; the building thread gives them up. Calls that the thread makes after that, in other
 * destructors, find no lane of its own and get another, which is marked in the next round of
 * destructors.
 */
#include "lane/thread.h"

#include <stdatomic.h>

#include "base/inside.h"
#include "base/ending.h"
#include "base/thread.h"
#include "base/thread_end.h"
#include "graph/building.h"
#include "graph/captures.h"
#include "graph/carried.h"
#include "lane/barrier.h"
#include "lane/errors.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "lane/traces.h"

static void thread_ends(void *unused)
{
	uint32_t self = reprise_thread_self();
	bool any = false;

	reprise_lanes_returned();
	if (reprise_captures_any())
		reprise_captures_thread_ended(self);
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next) {
		if (atomic_load(&lane->owner) != self)
			continue;
		atomic_store(&lane->owner, REPRISE_OWNER_ENDED);
		any = true;
	}
	if (any) {
		reprise_lanes_look_again();
		reprise_graph_want_tidy();
	}
}

static struct reprise_thread_end thread_end = {.ends =
                                                   thread_ends}; /* of threads that own something */

void reprise_thread_owns(void)
{
	reprise_thread_end_hear(&thread_end);
}

bool reprise_threads_tidy(void)
{
	struct reprise_workshop workshop;
	bool any = false;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next) {
		if (atomic_load(&lane->owner) != REPRISE_OWNER_ENDED || atomic_load(&lane->retired))
			continue;
		reprise_lock_take(&lane->lock);
		reprise_lane_barrier(lane, false);
		reprise_lane_forget(lane);
		workshop = reprise_lane_take_workshop(lane);
		reprise_errors_stream_ended(lane->stream);
		reprise_lanes_retire(lane);
		reprise_lock_give(&lane->lock);
		reprise_lane_close(&workshop);
		any = true;
	}
	return any;
}

void reprise_thread_read_attributes(struct reprise_lane *lane)
{
	int entered = reprise_enter();

	reprise_carried_read(&lane->workshop.carried);
	reprise_leave(entered);
}

/* If there is no lane yet, one that is made later reads them. */
void reprise_thread_attributes_change(bool settled)
{
	struct reprise_lane *lane = reprise_lanes_known(CU_STREAM_PER_THREAD, true);
	bool own;

	if (lane == NULL)
		return;
	reprise_graph_building_pause();
	reprise_lock_take(&lane->lock);
	own = atomic_load(&lane->owner) == reprise_thread_self(); /* else its context has ended */
	if (own && settled)
		reprise_thread_read_attributes(lane);
	else if (own)
		lane->workshop.carried.unknown = true;
	reprise_lock_give(&lane->lock);
	reprise_graph_building_resume();
}
