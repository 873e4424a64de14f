#include "lane/async_launch.h"

#include <sched.h>

#include "base/hot.h"
#include "base/options.h"
#include "graph/shadow.h"
#include "stats/counters.h"
#include "lane/hold.h"
#include "lane/pace.h"
#include "lane/pending.h"

#define DIRECT_FIRST \
	2 /* visits that are launched at once after one was waited for while it was queued, */
#define DIRECT_MOST 256 /* each time twice as many, up to so many */

enum { AUTO, NEVER, ALWAYS }; /* REPRISE_SUBMIT */

struct reprise_worker reprise_async_launch_worker;

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
	if (lane->group != NULL || lane->owner != 0 || reprise_verifying ||
	    reprise_option(REPRISE_OPTION_HOLD) == 0 || reprise_pending_is_full(lane) ||
	    (trace->absent_count | trace->graph.disabled_count) != 0)
		return false;
	return reprise_pending_has(lane, trace) ? trace->changed_count == 0 : !trace->graph.mixed;
}

REPRISE_HOT bool reprise_async_launch_decide(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	uint64_t who = reprise_option(REPRISE_OPTION_SUBMIT);

	return who != NEVER && may_be_queued(lane, trace) && (who == ALWAYS || take_turn(lane, trace));
}

void reprise_async_launch_wake(void)
{
	reprise_worker_wake(&reprise_async_launch_worker);
}
