#include "lane/async_launch.h"

#include <sched.h>

#include "base/clock.h"
#include "base/keep.h"
#include "base/options.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "graph/shadow.h"
#include "lane/group/group.h"
#include "lane/hold.h"
#include "lane/launch.h"
#include "lane/registry.h"

enum { AUTO, NEVER, ALWAYS }; /* REPRISE_SUBMIT */

struct reprise_worker reprise_async_launch_worker;

/* The program's threads launch all graphs, where REPRISE_SUBMIT leaves it to Reprise. */
static bool direct REPRISE_HOT_DATA;

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

/* A pending launch that the program has to make costs it more than one at once. If that were more
 * than half of the visits judged, the next ones are launched at once: twice as many each time. */
static __attribute__((noinline)) void judge_forced(struct reprise_trace *trace)
{
	if (trace->forced <= trace->left / 2) {
		trace->forced_again = 0;
	} else {
		trace->direct = REPRISE_TUNE_LAUNCH_DIRECT << trace->forced_again;
		trace->forced_again += trace->forced_again < REPRISE_TUNE_LAUNCH_DOUBLED;
	}
	trace->left = trace->forced = 0;
}

/* True if this visit is for the launch thread. After one that the host waited for while it was
 * still pending, some are launched at once. */
static bool take_turn(struct reprise_lane *lane, struct reprise_trace *trace)
{
	if (!reprise_pace_judge(lane))
		return false;
	if (trace->waited_for)
		trace->direct = REPRISE_TUNE_LAUNCH_DIRECT;
	trace->waited_for = false;
	if (__builtin_expect(trace->left >= REPRISE_TUNE_LAUNCH_JUDGED, 0))
		judge_forced(trace);
	if (trace->direct == 0) {
		trace->left++;
		return true;
	}
	trace->direct--;
	return false;
}

/* True if the visit can be left to the launch thread. Not in a group, whose order is noted when a
 * graph is launched; nor on a thread's own stream, to which only that thread can issue
 * (own_stream.h). A trace's ops must not change while a launch of it is pending. */
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

	return who != NEVER && may_be_pending(lane, trace) &&
	       (who == ALWAYS ||
	        (!__atomic_load_n(&direct, __ATOMIC_RELAXED) && take_turn(lane, trace)));
}

uint64_t reprise_async_launched(void)
{
	return reprise_option(REPRISE_OPTION_SUBMIT) == AUTO
	           ? atomic_load_explicit(&reprise_counters[REPRISE_COUNT_async_launches],
	                                  memory_order_relaxed)
	           : 0;
}

void reprise_async_launch_direct(bool wanted)
{
	if (__atomic_load_n(&direct, __ATOMIC_RELAXED) != wanted)
		__atomic_store_n(&direct, wanted, __ATOMIC_RELAXED);
}

void reprise_async_launch_wake(void)
{
	reprise_worker_wake(&reprise_async_launch_worker);
}

/* ---- pace ---- */

static void measure(struct reprise_lane *lane)
{
	struct reprise_pace *pace = &lane->pace;
	uint64_t ops = lane->counts.ops - pace->begin_ops;

	if (pace->begin_ns != 0 && ops > 0) {
		pace->span_ns = reprise_clock_ns() - pace->begin_ns;
		pace->op_ns = pace->span_ns / ops;
		pace->visit_ns = pace->span_ns / (pace->visits - pace->begin_visits + 1);
	}
	pace->begin_ns = 0;
}

void reprise_pace_wait(struct reprise_lane *lane)
{
	measure(lane);
	lane->pace.visits = 0;
}

void reprise_pace_look(struct reprise_lane *lane, bool busy)
{
	int lead = atomic_load(&lane->pace.lead);

	if (busy)
		lead -= lead > -REPRISE_TUNE_PACE_LEAD_MOST ? 2 : 0;
	else
		lead += lead < REPRISE_TUNE_PACE_LEAD_MOST;
	atomic_store(&lane->pace.lead, lead);
}

/*
 * True while the GPU is known to be no faster than the program: the program would wait in the end
 * for the time it saves. Counts the visits launched at once for that, and tries again after
 * REPRISE_TUNE_PACE_DIRECT.
 */
static bool launch_without_lead(struct reprise_pace *pace)
{
	if (atomic_load(&pace->lead) > -REPRISE_TUNE_PACE_LEAD_MOST)
		return false;
	if (++pace->resting < REPRISE_TUNE_PACE_DIRECT)
		return true;
	pace->resting = 0;
	atomic_store(&pace->lead, 0);
	return false;
}

REPRISE_HOT bool reprise_pace_judge(struct reprise_lane *lane)
{
	struct reprise_pace *pace = &lane->pace;

	if (pace->visits <= REPRISE_TUNE_PACE_FIRST || pace->visits >= REPRISE_TUNE_PACE_MOST)
		return false;
	if (pace->visits % REPRISE_TUNE_PACE_MEASURED == 0)
		measure(lane);
	if (pace->begin_ns == 0) {
		pace->begin_ns = reprise_clock_ns();
		pace->begin_ops = lane->counts.ops;
		pace->begin_visits = pace->visits;
	}
	return pace->op_ns >= REPRISE_TUNE_PACE_SLOW_NS &&
	       pace->visit_ns <= REPRISE_TUNE_PACE_SPARSE_NS &&
	       pace->span_ns >= REPRISE_TUNE_PACE_LEAST_NS && !launch_without_lead(pace);
}

/* ---- backlog ---- */

static bool is_done(struct reprise_lane *lane)
{
	if (!reprise_pending_none(lane))
		return false;
	if (lane->group == NULL)
		return reprise_driver_query(lane->stream) == CUDA_SUCCESS;
	for (unsigned int i = 0; i < lane->group->count; i++)
		if (reprise_driver_query(lane->group->streams[i]) != CUDA_SUCCESS)
			return false;
	return reprise_group_beside_is_done(lane->group);
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
