/* The launch thread: launches pending visits, lane by lane; sleeps after
 * REPRISE_TUNE_LAUNCH_LINGER_NS without any, and at once in a pause or an eager turn. */
#include "workers/workers.h"

#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/inside.h"
#include "base/options.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "lane/eager.h"
#include "lane/hold.h"
#include "lane/async_launch.h"
#include "lane/launch.h"
#include "lane/registry.h"

/* No capture of the program's is open here: all pending visits are launched before one begins. */
static void look_at_gpu(struct reprise_lane *lane)
{
	bool pushed = reprise_driver_make_current(lane->context);

	reprise_pace_look(lane, reprise_driver.cuStreamQuery(lane->stream) == CUDA_ERROR_NOT_READY);
	reprise_driver_restore_current(pushed);
}

/* True if a visit was launched. `first`: the first one of this look. */
static bool launch_oldest(struct reprise_lane *lane, bool first)
{
	bool launched;

	/* The holder launches visits and gives the lock between two, unless the driver keeps it. */
	if (!reprise_lock_take_within(&lane->queue.lock, REPRISE_TUNE_LAUNCH_PERIOD_NS))
		return false;
	if (first && !reprise_pending_none(lane))
		look_at_gpu(lane);
	launched = reprise_pending_launch_oldest(lane, true) != NULL;
	reprise_lock_give(&lane->queue.lock);
	return launched;
}

static void look_at(struct reprise_lane *lane, void *context)
{
	bool *found = context, first = true;

	if (reprise_pending_none(lane))
		return;
	while (!reprise_worker_stopped(&reprise_async_launch_worker) && launch_oldest(lane, first)) {
		first = false;
		*found = true;
	}
	if (!reprise_lock_try(&lane->lock))
		return; /* the holder notes the launches soon, or the hold thread does */
	reprise_pending_note_launched(lane);
	reprise_lock_give(&lane->lock);
}

static void note_any(struct reprise_lane *lane, void *context)
{
	bool *any = context;

	*any = *any || !reprise_pending_none(lane);
}

static bool any_is_pending(void)
{
	bool any = false;

	reprise_lanes_each(note_any, &any);
	return any;
}

/* Short enough that the hold thread finds nothing due. */
static uint64_t period(void)
{
	uint64_t most = reprise_hold_due(reprise_option(REPRISE_OPTION_HOLD) * 1000) / 2;

	return most < REPRISE_TUNE_LAUNCH_PERIOD_NS ? most : REPRISE_TUNE_LAUNCH_PERIOD_NS;
}

static void *run(void *unused)
{
	struct timespec pause = {.tv_nsec = (long)period()};
	uint64_t last_found = reprise_clock_ns();

	reprise_inside = REPRISE_INSIDE_FOR_GOOD; /* its driver calls bypass the doors */
	/* In relaxed mode, this thread's calls do not invalidate the program's captures. */
	reprise_driver_begin_relaxed();
	prctl(PR_SET_TIMERSLACK, 1UL);
	while (!reprise_worker_stopped(&reprise_async_launch_worker)) {
		bool found = false;

		reprise_lanes_each(look_at, &found);
		if (found) {
			last_found = reprise_clock_ns();
		} else if (reprise_clock_ns() - last_found > REPRISE_TUNE_LAUNCH_LINGER_NS ||
		           reprise_all_are_eager()) {
			reprise_worker_sleep(&reprise_async_launch_worker, any_is_pending);
			last_found = reprise_clock_ns();
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

void reprise_async_launch_define(void)
{
	reprise_worker_define(&reprise_async_launch_worker, run, "reprise-launch");
}

void reprise_async_launch_stop(void)
{
	reprise_worker_stop(&reprise_async_launch_worker);
}

void reprise_async_launch_reset(void)
{
	reprise_worker_reset(&reprise_async_launch_worker);
}
