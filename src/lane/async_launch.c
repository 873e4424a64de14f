#include "lane/async_launch.h"

#include <sched.h>

#include "base/options.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "graph/shadow.h"
#include "stats/counters.h"
#include "lane/hold.h"
#include "lane/pace.h"
#include "lane/pending.h"

enum { AUTO, NEVER, ALWAYS }; /* REPRISE_SUBMIT */

struct reprise_worker reprise_async_launch_worker;

/* On one processor, the launch thread would take the time that it saves. */
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

bool reprise_async_launch_ensure(void)
{
	bool ready;

	if (reprise_option(REPRISE_OPTION_SUBMIT) != ALWAYS && !has_a_processor())
		return false;
	ready = reprise_worker_ready(&reprise_async_launch_worker);
	if (!ready)
		reprise_count(REPRISE_COUNT_threads_failed, 1);
	return ready;
}

void reprise_async_launch_begin(void)
{
	if (reprise_option(REPRISE_OPTION_SUBMIT) != NEVER)
		reprise_async_launch_ensure();
}

/* ---- which visits are left to the launch thread ---- */

/* The host waited for a launch that was still pending: the next visits are launched at once. */
static void launch_directly(struct reprise_trace *trace)
{
	trace->waited_for = false;
	trace->direct_span = trace->direct_span == 0 ? REPRISE_TUNE_LAUNCH_DIRECT_FIRST
	                     : trace->direct_span < REPRISE_TUNE_LAUNCH_DIRECT_MOST
	                         ? 2 * trace->direct_span
	                         : REPRISE_TUNE_LAUNCH_DIRECT_MOST;
	trace->direct = trace->direct_span;
}

/* True if this visit is for the launch thread. Counts down the visits that are launched at once. */
static bool take_turn(struct reprise_lane *lane, struct reprise_trace *trace)
{
	if (!reprise_pace_judge(lane))
		return false;
	if (trace->waited_for)
		launch_directly(trace);
	if (trace->direct > 0) {
		trace->direct--;
		return false;
	}
	trace->direct_span /= 2;
	return true;
}

/* True if the visit can be left to the launch thread. Not in a group, whose order is noted when a
 * graph is launched; nor on a thread's own stream, to which only that thread can issue. A trace's
 * ops must not change while a launch of it is pending. */
static bool may_be_pending(const struct reprise_lane *lane, const struct reprise_trace *trace)
{
	if (lane->group != NULL || lane->owner != 0 || reprise_verifying ||
	    reprise_option(REPRISE_OPTION_HOLD) == 0 || reprise_pending_is_full(lane))
		return false;
	return reprise_pending_has(lane, trace) ? trace->changed_count == 0 : !trace->graph.mixed;
}

REPRISE_HOT bool reprise_async_launch_decide(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	uint64_t who = reprise_option(REPRISE_OPTION_SUBMIT);

	return who != NEVER && may_be_pending(lane, trace) && (who == ALWAYS || take_turn(lane, trace));
}

void reprise_async_launch_wake(void)
{
	reprise_worker_wake(&reprise_async_launch_worker);
}
