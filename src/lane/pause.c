/* The functions of eager.h that issue what is deferred: pauses, errors that ruin a context, the end
 * of the process. */
#include "lane/eager.h"

#include <time.h>

#include "base/clock.h"
#include "base/inside.h"
#include "base/keep.h"
#include "base/tuning.h"
#include "lane/anchor.h"
#include "lane/order.h"
#include "lane/registry.h"

static void issue_all(void)
{
	if (reprise_inside == 0)
		reprise_lanes_barrier(false);
}

void reprise_pause_begin(void)
{
	REPRISE_KEEP_ERRNO;

	if ((atomic_fetch_add(&reprise_pauses, 1) & ~REPRISE_PAUSE_FLAGS) == 0)
		reprise_eager_pause_begins();
	issue_all();
}

void reprise_pause_end(void)
{
	uint32_t under_way = atomic_load(&reprise_pauses);

	reprise_anchor_interrupt();
	if ((under_way & ~REPRISE_PAUSE_FLAGS) == 1)
		reprise_eager_pause_ends();
	while ((under_way & ~REPRISE_PAUSE_FLAGS) > 0 &&
	       !atomic_compare_exchange_weak(&reprise_pauses, &under_way, under_way - 1))
		continue;
}

void reprise_range_begin(void)
{
	REPRISE_KEEP_ERRNO;

	reprise_in_range++;
	if (reprise_inside == 0)
		reprise_lanes_issue_own();
}

void reprise_range_end(void)
{
	reprise_in_range--;
}

void reprise_eager_turn_begin(void)
{
	atomic_store(&reprise_turn_begun, reprise_clock_ns());
	if ((atomic_fetch_or(&reprise_pauses, REPRISE_PAUSE_TURN) & REPRISE_PAUSE_TURN) == 0 &&
	    reprise_inside == 0)
		reprise_lanes_issue_own();
}

void reprise_stop(const char *reason)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_eager_stop(reason))
		issue_all();
}

void reprise_observe_result(CUresult result)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside != 0)
		return;
	if (result != CUDA_ERROR_NOT_READY) /* a query's answer */
		reprise_lanes_wait_failed();
	if (reprise_eager_note_error(result))
		issue_all();
}

void reprise_stop_at_exit(uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	reprise_eager_stop("the process ends");
	while (reprise_inside == 0 && reprise_lanes_hold() && reprise_clock_ns() < end) {
		struct timespec pause = {.tv_nsec = REPRISE_TUNE_EXIT_LOOK_NS};

		nanosleep(&pause, NULL);
	}
}
