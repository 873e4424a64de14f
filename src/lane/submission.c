/* Keeps invariants 1, 5 and 7 for what is queued, as replay.c does for what is launched at once. */
#include "submission.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/gate.h"
#include "../base/hot.h"
#include "../base/inside.h"
#include "../base/options.h"
#include "../base/worker.h"
#include "../driver/current.h"
#include "../driver/driver.h"
#include "../graph/shadow.h"
#include "../report/counters.h"
#include "../trace/balance.h"
#include "hold.h"
#include "pace.h"
#include "registry.h"
#include "visit.h"

#define LINGER_NS 10000000u /* the thread stays awake so long after the last visit */
#define DIRECT_FIRST 2      /* visits that are launched at once after one was waited for while it was queued, */
#define DIRECT_MOST 256     /* each time twice as many, up to so many */

enum { AUTO, NEVER, ALWAYS }; /* REPRISE_SUBMIT */

static struct reprise_worker worker;

/* ---- the queue ---- */

static struct reprise_queued *at(struct reprise_queue *queue, uint64_t i)
{
	return &queue->visits[i % REPRISE_QUEUE_MOST];
}

static uint64_t launched(const struct reprise_queue *queue)
{
	return atomic_load_explicit(&queue->launched, memory_order_acquire);
}

static bool is_empty(const struct reprise_queue *queue)
{
	return launched(queue) == atomic_load(&queue->added);
}

static bool is_full(const struct reprise_queue *queue)
{
	return atomic_load_explicit(&queue->added, memory_order_relaxed) - launched(queue) == REPRISE_QUEUE_MOST;
}

bool reprise_submission_has(const struct reprise_lane *lane, const struct reprise_trace *trace)
{
	return trace->queued_as > launched(&lane->queue);
}

CUresult reprise_submission_error(struct reprise_lane *lane)
{
	CUresult error = atomic_load_explicit(&lane->queue.error, memory_order_relaxed);

	if (__builtin_expect(error != CUDA_SUCCESS, 0))
		atomic_store(&lane->queue.error, CUDA_SUCCESS);
	return error;
}

uint64_t reprise_submission_since(const struct reprise_lane *lane)
{
	const struct reprise_queue *queue = &lane->queue;
	uint64_t next = launched(queue);

	return next == atomic_load_explicit(&queue->added, memory_order_relaxed) ? 0 : queue->visits[next % REPRISE_QUEUE_MOST].since;
}

/* ---- launching: under the queue's lock ---- */

static bool launch_graph(struct reprise_lane *lane, const struct reprise_queued *visit)
{
	static const uint64_t none[(REPRISE_SEGMENT_MOST + 63) / 64];
	struct reprise_trace *trace = visit->trace;
	uint64_t begin = reprise_timeline_begin();

	if (visit->patched > 0 || trace->graph.mixed) {
		if (reprise_graph_patch(&trace->graph, trace->ops, trace->wanted, none) != REPRISE_PATCH_DONE)
			return false;
		reprise_timeline_end(REPRISE_TIMELINE_PATCH, begin, (struct reprise_timeline_about){lane->number, NULL, trace->graph.number, visit->patched});
	}
	if (reprise_driver.cuGraphLaunch(trace->graph.executable, lane->stream) == CUDA_SUCCESS)
		return true;
	reprise_count(REPRISE_COUNT_launches_failed, 1);
	return false;
}

/* The graph does not have what its trace is settled to: the next visit brings it all, or builds it anew. */
static void issue_instead(struct reprise_lane *lane, struct reprise_queued *visit)
{
	struct reprise_trace *trace = visit->trace;
	CUresult result = CUDA_SUCCESS;

	for (unsigned int i = 0; i < trace->count; i++)
		result = reprise_op_issue(&trace->ops[i], lane->stream);
	trace->graph.mixed = true;
	visit->failed = true;
	atomic_fetch_add(&lane->queue.failed, 1);
	if (result != CUDA_SUCCESS)
		atomic_store(&lane->queue.error, result);
}

static void launch(struct reprise_lane *lane, struct reprise_queued *visit)
{
	struct reprise_trace *trace = visit->trace;
	uint64_t entered_at = reprise_timeline_begin();
	struct reprise_timeline_about about = {lane->number, NULL, trace->graph.number, trace->count};
	int entered = reprise_enter();
	bool pushed = reprise_driver_make_current(lane->context), replayed;

	reprise_gate_enter();
	replayed = launch_graph(lane, visit);
	if (!replayed) {
		about.reason = reprise_exit_names[REPRISE_EXIT_launch];
		issue_instead(lane, visit);
	}
	reprise_gate_leave();
	reprise_driver_restore_current(pushed);
	reprise_leave(entered);
	reprise_timeline_end(replayed ? REPRISE_TIMELINE_REPLAY : REPRISE_TIMELINE_EXIT, entered_at, about);
	reprise_hold_tell(lane, visit->held_since, trace->count);
	lane->queue.held_until = reprise_timeline_begin();
}

/* The oldest visit that is queued; NULL if none is. `by_us`: by a thread of ours. */
static const struct reprise_queued *launch_oldest(struct reprise_lane *lane, bool by_us)
{
	struct reprise_queue *queue = &lane->queue;
	struct reprise_queued *oldest;

	if (is_empty(queue))
		return NULL;
	oldest = at(queue, launched(queue));
	launch(lane, oldest);
	reprise_count(by_us ? REPRISE_COUNT_submitted : REPRISE_COUNT_submitted_after_all, !oldest->failed);
	reprise_count(REPRISE_COUNT_submitted_patches, by_us && !oldest->failed ? oldest->patched : 0);
	atomic_fetch_add_explicit(&queue->launched, 1, memory_order_release);
	return oldest;
}

/* ---- what others launch ---- */

/* The visit, which is counted as replayed, was not. */
static void note_failure(struct reprise_lane *lane, struct reprise_queued *visit)
{
	struct reprise_trace *trace = visit->trace;

	lane->counts.launches--;
	lane->counts.replayed -= trace->count;
	if (lane->told_replayed > lane->counts.replayed)
		lane->told_replayed = lane->counts.replayed;
	lane->counts.patched -= visit->patched;
	lane->counts.exits[REPRISE_EXIT_launch]++;
	lane->counts.exited[REPRISE_EXIT_launch] += trace->count;
	trace->replays--;
	trace->counts.patched -= visit->patched;
	trace->counts.exits[REPRISE_EXIT_launch]++;
	trace->counts.exited_ops += trace->count;
	if (trace->failed_at == 0)
		trace->failed_at = lane->counts.ops;
	visit->failed = false;
	atomic_fetch_sub(&lane->queue.failed, 1);
}

void reprise_submission_note_failures(struct reprise_lane *lane)
{
	uint64_t end = launched(&lane->queue);

	for (uint64_t i = lane->queue.added - REPRISE_QUEUE_MOST; i != end; i++)
		if (at(&lane->queue, i)->failed)
			note_failure(lane, at(&lane->queue, i));
}

static void note_launched(struct reprise_lane *lane)
{
	reprise_hold_again(lane);
	reprise_submission_look_for_failures(lane);
}

/* It was the program's time after all. */
static void weigh(struct reprise_lane *lane, struct reprise_trace *trace, uint64_t ticks)
{
	if (reprise_visit_is_measured() && !reprise_balance_left(trace, ticks))
		reprise_visit_note_loss(lane, trace);
}

REPRISE_HOT void reprise_submission_finish(struct reprise_lane *lane, bool wait)
{
	const struct reprise_queued *visit;

	if (__builtin_expect(is_empty(&lane->queue), 1))
		return;
	for (;;) {
		uint64_t begin = reprise_clock_ticks();

		/* The thread may have begun: the lock is given between any two, so that neither sleeps for long. */
		reprise_lock_take(&lane->queue.lock);
		visit = launch_oldest(lane, false);
		reprise_lock_give(&lane->queue.lock);
		if (visit == NULL)
			break; /* that one has */
		visit->trace->waited_for = visit->trace->waited_for || wait;
		weigh(lane, visit->trace, reprise_clock_ticks() - begin);
	}
	note_launched(lane);
}

bool reprise_submission_try_finish(struct reprise_lane *lane)
{
	if (is_empty(&lane->queue))
		return true;
	if (!reprise_lock_try(&lane->queue.lock))
		return false;
	while (launch_oldest(lane, true) != NULL)
		continue;
	reprise_lock_give(&lane->queue.lock);
	note_launched(lane);
	return true;
}

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

	reprise_lock_take(&lane->queue.lock);
	if (first && !is_empty(&lane->queue))
		look_at_gpu(lane);
	launched = launch_oldest(lane, true) != NULL;
	reprise_lock_give(&lane->queue.lock);
	return launched;
}

static void look_at(struct reprise_lane *lane, void *context)
{
	bool *found = context, first = true;

	if (is_empty(&lane->queue))
		return;
	while (!reprise_worker_stopped(&worker) && submit_oldest(lane, first)) {
		first = false;
		*found = true;
	}
	if (!reprise_lock_try(&lane->lock))
		return; /* who has it is about to say so himself, or the hold limit's thread will */
	note_launched(lane);
	reprise_lock_give(&lane->lock);
}

static void note_any(struct reprise_lane *lane, void *context)
{
	bool *any = context;

	*any = *any || !is_empty(&lane->queue);
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
	struct timespec pause = {.tv_nsec = (long)period()};
	uint64_t last_found = reprise_clock_ns();

	reprise_inside = REPRISE_INSIDE_FOR_GOOD; /* this thread only ever speaks to the real driver */
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

bool reprise_submission_ready(void)
{
	bool ready;

	if (reprise_option(REPRISE_OPTION_SUBMIT) != ALWAYS && !has_a_processor())
		return false;
	ready = reprise_worker_ready(&worker, run, "reprise-submit");
	if (!ready)
		reprise_count(REPRISE_COUNT_threads_failed, 1);
	return ready;
}

/* ---- what is queued ---- */

/* It was still queued when the host waited for it: as long as that goes on, it is launched at once. */
static void back_off(struct reprise_trace *trace)
{
	trace->waited_for = false;
	trace->direct_span = trace->direct_span == 0 ? DIRECT_FIRST : trace->direct_span < DIRECT_MOST ? 2 * trace->direct_span : DIRECT_MOST;
	trace->direct = trace->direct_span;
}

static bool pays(struct reprise_lane *lane, struct reprise_trace *trace)
{
	if (!reprise_pace_is_slow(lane))
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
 * Whether it can be left to the thread. Not where streams are joined, whose order is told when a graph is launched; on a thread's own stream, which nobody
 * else can issue to; where each launch is verified; and where nodes are disabled. And a trace's ops are not changed while a visit of it is queued.
 */
static bool may_be_queued(const struct reprise_lane *lane, const struct reprise_trace *trace)
{
	if (lane->joint != NULL || lane->owner != 0 || reprise_verifying || reprise_option(REPRISE_OPTION_HOLD) == 0 || is_full(&lane->queue) ||
	    (trace->absent_count | trace->graph.disabled_count) != 0 || atomic_load(&lane->queue.error) != CUDA_SUCCESS)
		return false;
	return reprise_submission_has(lane, trace) ? trace->changed_count == 0 : !trace->graph.mixed;
}

REPRISE_HOT bool reprise_submission_wants(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	uint64_t who = reprise_option(REPRISE_OPTION_SUBMIT);

	return who != NEVER && may_be_queued(lane, trace) && (who == ALWAYS || pays(lane, trace));
}

REPRISE_HOT void reprise_submission_note(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	struct reprise_queued *visit = at(&lane->queue, atomic_load_explicit(&lane->queue.added, memory_order_relaxed));

	reprise_submission_look_for_failures(lane); /* the last visit in this place may be one */
	*visit = (struct reprise_queued){trace, trace->changed_count, lane->visit_since, lane->held_since, false};
	if (visit->since == 0)
		visit->since = reprise_clock_ns(); /* it has one op alone */
	for (unsigned int word = 0; visit->patched > 0 && word < (trace->count + 63) / 64; word++)
		trace->wanted[word] = trace->changed[word];
}

REPRISE_HOT void reprise_submission_add(struct reprise_lane *lane)
{
	uint64_t added = atomic_load_explicit(&lane->queue.added, memory_order_relaxed);

	if (atomic_load_explicit(&lane->deferred_since, memory_order_relaxed) == 0)
		atomic_store(&lane->deferred_since, at(&lane->queue, added)->since);
	lane->visit_since = lane->held_since = 0;
	lane->trace->queued_as = added + 1;
	atomic_store(&lane->queue.added, added + 1); /* before looking whether the thread sleeps */
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
