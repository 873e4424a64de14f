#include "lane/hold.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"
#include "base/placement.h"
#include "base/thread.h"
#include "stats/counters.h"
#include "timeline/timeline.h"

struct reprise_worker reprise_hold_worker;

bool reprise_hold_ensure(void)
{
	bool ready = !reprise_thread_is_alone() && reprise_worker_ready(&reprise_hold_worker);

	if (!ready)
		reprise_count(REPRISE_COUNT_threads_failed, 1);
	return ready;
}

REPRISE_HOT void reprise_hold_again(struct reprise_lane *lane)
{
	uint64_t pending_since = reprise_pending_since(lane);

	reprise_lane_hold_since(lane, pending_since != 0 ? pending_since : lane->visit_since);
}

REPRISE_HOT void reprise_hold_begin(struct reprise_lane *lane)
{
	if (reprise_observing)
		return;
	lane->visit_since = reprise_clock_ns();
	reprise_hold_again(lane); /* before the hold thread's state is read */
	lane->held_since = reprise_timeline_begin();
	reprise_worker_wake(&reprise_hold_worker);
}

REPRISE_HOT void reprise_hold_wake(void)
{
	reprise_worker_wake(&reprise_hold_worker);
}

void reprise_hold_want(struct reprise_lane *lane)
{
	if (atomic_exchange(&lane->wanted, true))
		return;
	reprise_worker_call(&reprise_hold_worker);
}

void reprise_hold_tell(struct reprise_lane *lane, uint64_t since, unsigned int ops)
{
	if (since == 0 || lane->number == REPRISE_LANE_NUMBER_LAST)
		return;
	if (since < lane->queue.held_until)
		since = lane->queue.held_until;
	reprise_timeline_end(REPRISE_TIMELINE_HOLD, since,
	                     (struct reprise_timeline_about){.lane = lane->number, .ops = ops});
	lane->queue.held_until = reprise_timeline_begin();
}

REPRISE_HOT void reprise_hold_end(struct reprise_lane *lane)
{
	if (atomic_load_explicit(&lane->deferred_since, memory_order_relaxed) == 0)
		return;
	atomic_store_explicit(&lane->deferred_since, 0, memory_order_release);
	lane->visit_since = 0;
	reprise_hold_tell(lane, lane->held_since, lane->cursor);
	lane->held_since = 0;
}

bool reprise_hold_issues(struct reprise_lane *lane, uint64_t patience_ns)
{
	uint64_t begin = reprise_clock_ns(), spent = 0;

	while (atomic_load(&lane->deferred_since) != 0) {
		reprise_hold_want(lane);
		if (spent > patience_ns)
			return false;
		if (spent < REPRISE_TUNE_ORDER_QUERY_NS)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = REPRISE_TUNE_ORDER_LOOK_NS}, NULL);
		spent = reprise_clock_ns() - begin;
	}
	return true;
}
