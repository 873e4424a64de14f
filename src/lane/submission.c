#include "lane/submission.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/hot.h"
#include "base/inside.h"
#include "base/options.h"
#include "base/worker.h"
#include "driver/current.h"
#include "driver/driver.h"
#include "graph/shadow.h"
#include "report/counters.h"
#include "lane/hold.h"
#include "lane/pace.h"
#include "lane/queued.h"
#include "lane/registry.h"

#define LINGER_NS 10000000u /* the thread stays awake so long after the last visit */
#define DIRECT_FIRST \
	2 /* visits that are launched at once after one was waited for while it was queued, */
#define DIRECT_MOST 256 /* each time twice as many, up to so many */

enum { AUTO, NEVER, ALWAYS }; /* REPRISE_SUBMIT */

static struct reprise_worker worker;

/* ---- the thread ---- */

/* The stream's program does not capture: it would have finished the queue before. */
static bool is_busy(const struct reprise_lane *lane)
{
	return reprise_driver.cuStreamQuery(lane->stream) == CUDA_ERROR_NOT_READY;
}

static void look_at_gpu(struct reprise_lane *lane)
{
	bool pushed = reprise_driver_make_current(lane->context);

	reprise_pace_look(lane, is_busy(lane));
	reprise_driver_restore_current(pushed);
}

/* True if there was a visit to launch. `first`: in this look. */
static bool submit_oldest(struct reprise_lane *lane, bool first)
{
	bool launched;

	/* Who has it launches what is queued, and gives it between any two, unless the driver keeps
	 * him. */
	if (!reprise_lock_take_within(&lane->queue.lock, REPRISE_SUBMISSION_PERIOD_NS))
		return false;
	if (first && !reprise_queued_none(lane))
		look_at_gpu(lane);
	launched = reprise_queued_launch_oldest(lane, true) != NULL;
	reprise_lock_give(&lane->queue.lock);
	return launched;
}

static void look_at(struct reprise_lane *lane, void *context)
{
	bool *found = context, first = true;

	if (reprise_queued_none(lane))
		return;
	while (!reprise_worker_stopped(&worker) && submit_oldest(lane, first)) {
		first = false;
		*found = true;
	}
	if (!reprise_lock_try(&lane->lock))
		return; /* who has it is about to say so himself, or the hold limit's thread will */
	reprise_queued_note_launched(lane);
	reprise_lock_give(&lane->lock);
}

static void note_any(struct reprise_lane *lane, void *context)
{
	bool *any = context;

	*any = *any || !reprise_queued_none(lane);
}

static bool any_is_queued(void)
{
	bool any = false;

	reprise_lanes_each(note_any, &any);
	return any;
}

/* Soon enough for the hold limit's thread to find nothing due. */
static uint64_t period(void)
{
	uint64_t most = reprise_hold_due(reprise_option(REPRISE_OPTION_HOLD) * 1000) / 2;

	return most < REPRISE_SUBMISSION_PERIOD_NS ? most : REPRISE_SUBMISSION_PERIOD_NS;
}

static void *run(void *unused)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	struct timespec pause = {.tv_nsec = (long)period()};
	uint64_t last_found = reprise_clock_ns();

	reprise_inside = REPRISE_INSIDE_FOR_GOOD; /* this thread only ever speaks to the real driver */
	reprise_driver.cuThreadExchangeStreamCaptureMode(
		&mode); /* no capture of the program's is to end for what is called here */
	prctl(PR_SET_TIMERSLACK, 1UL);
	while (!reprise_worker_stopped(&worker)) {
		bool found = false;

		reprise_lanes_each(look_at, &found);
		if (found) {
			last_found = reprise_clock_ns();
		} else if (reprise_clock_ns() - last_found > LINGER_NS) {
			reprise_worker_sleep(&worker, any_is_queued);
			last_found = reprise_clock_ns();
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* On one processor, the thread would take the time that it saves. */
static bool has_a_processor(void)
{
	static _Atomic int processors;
	int count = atomic_load_explicit(&processors, memory_order_relaxed);
	cpu_set_t set;

	if (__builtin_expect(count == 0, 0)) {
		count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 2;
		atomic_store(&processors, count);
	}
	return count > 1;
}

bool reprise_submission_ensure(void)
{
	bool ready;

	if (reprise_option(REPRISE_OPTION_SUBMIT) != ALWAYS && !has_a_processor())
		return false;
	ready = reprise_worker_ready(&worker, run, "reprise-submit");
	if (!ready)
		reprise_count(REPRISE_COUNT_threads_failed, 1);
	return ready;
}

void reprise_submission_begin(void)
{
	if (reprise_option(REPRISE_OPTION_SUBMIT) != NEVER)
		reprise_submission_ensure();
}

/* ---- what is queued ---- */

/* It was still queued when the host waited for it: as long as that goes on, it is launched at once.
 */
static void back_off(struct reprise_trace *trace)
{
	trace->waited_for = false;
	trace->direct_span = trace->direct_span == 0            ? DIRECT_FIRST
	                     : trace->direct_span < DIRECT_MOST ? 2 * trace->direct_span
	                                                        : DIRECT_MOST;
	trace->direct = trace->direct_span;
}

/* Whether to leave this visit to the thread: not for some visits after one was waited for, which
 * are counted down here. */
static bool take_turn(struct reprise_lane *lane, struct reprise_trace *trace)
{
	if (!reprise_pace_judge(lane))
		return false;
	if (trace->waited_for)
		back_off(trace);
	if (trace->direct > 0) {
		trace->direct--;
		return false;
	}
	trace->direct_span /= 2;
	return true;
}

/*
 * Whether it can be left to the thread. Not where streams are joined, whose order is told when a
 * graph is launched; on a thread's own stream, which nobody else can issue to; where each launch is
 * verified; and where nodes are disabled. And a trace's ops are not changed while a visit of it is
 * queued.
 */
static bool may_be_queued(const struct reprise_lane *lane, const struct reprise_trace *trace)
{
	if (lane->joint != NULL || lane->owner != 0 || reprise_verifying ||
	    reprise_option(REPRISE_OPTION_HOLD) == 0 || reprise_queued_is_full(lane) ||
	    (trace->absent_count | trace->graph.disabled_count) != 0)
		return false;
	return reprise_queued_has(lane, trace) ? trace->changed_count == 0 : !trace->graph.mixed;
}

REPRISE_HOT bool reprise_submission_decide(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	uint64_t who = reprise_option(REPRISE_OPTION_SUBMIT);

	return who != NEVER && may_be_queued(lane, trace) && (who == ALWAYS || take_turn(lane, trace));
}

void reprise_submission_wake(void)
{
	reprise_worker_wake(&worker);
}

void reprise_submission_stop(void)
{
	reprise_worker_stop(&worker);
}

void reprise_submission_reset(void)
{
	reprise_worker_reset(&worker);
}
