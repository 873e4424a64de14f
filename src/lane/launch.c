/* Keeps invariant 7: the program sees no failure of a graph's launch; and invariants 1 and 5 for
 * pending launches, as follow.c does for launches at once. */
#include "lane/launch.h"

#include "base/clock.h"
#include "base/gate.h"
#include "base/inside.h"
#include "base/placement.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "timeline/timeline.h"
#include "nvtx/listener.h"
#include "graph/cost.h"
#include "graph/shadow.h"
#include "trace/balance.h"
#include "lane/behind.h"
#include "lane/errors.h"
#include "lane/group/group.h"
#include "lane/hold.h"
#include "lane/verify.h"

static enum reprise_patch patch(const struct reprise_lane *lane,
                                const struct reprise_launch *launch)
{
	struct reprise_graph *graph = &launch->trace->graph;
	uint64_t begin = reprise_timeline_begin();
	enum reprise_patch result = reprise_graph_patch(graph, launch->ops, launch->changed);

	reprise_timeline_end(REPRISE_TIMELINE_PATCH, begin,
	                     (struct reprise_timeline_about){.lane = lane->number,
	                                                     .graph = graph->number,
	                                                     .ops = launch->nodes});
	return result;
}

static CUresult launch_executable(struct reprise_lane *lane, const struct reprise_trace *trace)
{
	CUstream stream;
	CUresult result;

	if (__builtin_expect(lane->group == NULL, 1))
		return reprise_driver.cuGraphLaunch(trace->graph.executable, lane->stream);
	stream = reprise_group_origin(lane, trace);
	if (stream == NULL)
		return CUDA_ERROR_UNKNOWN;
	result = reprise_driver.cuGraphLaunch(trace->graph.executable, stream);
	if (result == CUDA_SUCCESS)
		reprise_group_launched(lane, trace);
	return result;
}

static __attribute__((noinline)) CUresult launch_as_range(struct reprise_lane *lane,
                                                          struct reprise_trace *trace)
{
	bool ranged = reprise_nvtx_replay_begins(&trace->range_name, trace->ops, trace->count);
	CUresult result = launch_executable(lane, trace);

	if (ranged)
		reprise_nvtx_replay_ends();
	return result;
}

static CUresult launch_told(struct reprise_lane *lane, struct reprise_trace *trace)
{
	return __builtin_expect(atomic_load_explicit(&reprise_nvtx_listens, memory_order_relaxed), 0)
	           ? launch_as_range(lane, trace)
	           : launch_executable(lane, trace);
}

REPRISE_HOT enum reprise_patch reprise_launch_graph(struct reprise_lane *lane,
                                                    const struct reprise_launch *launch)
{
	enum reprise_patch result = REPRISE_PATCH_DONE;
	uint64_t patched_at = 0;

	reprise_behind_before_launch(lane);
	if (__builtin_expect(launch->nodes > 0 || launch->trace->graph.mixed, 0)) {
		result = patch(lane, launch);
		patched_at = reprise_clock_ns();
	}
	if (__builtin_expect(reprise_verifying, 0) && result == REPRISE_PATCH_DONE &&
	    !reprise_verify_graph(lane))
		return REPRISE_PATCH_REFUSED;
	if (result == REPRISE_PATCH_DONE && launch_told(lane, launch->trace) != CUDA_SUCCESS) {
		reprise_count(REPRISE_COUNT_launches_failed, 1);
		result = REPRISE_PATCH_BROKEN;
	}
	if (result == REPRISE_PATCH_DONE && patched_at != 0)
		reprise_cost_took(REPRISE_COST_launch, reprise_clock_ns() - patched_at, 1);
	return result;
}

/* True if the trace has the first op of the other one, whose place it may have taken. */
static bool covers(const struct reprise_trace *trace, const struct reprise_trace *other)
{
	uint64_t at = other->position.since_wait - trace->position.since_wait;

	return at < trace->count && trace->ops[at].shape == other->ops[0].shape;
}

static void has_recovered(struct reprise_trace *trace, uint64_t now)
{
	if (trace->failed_at != 0)
		reprise_count_most(REPRISE_COUNT_recovery_ops, now - trace->failed_at);
	trace->failed_at = 0;
}

/* A replay after a failure or a cooldown. A visit that began before the cooldown does not count as
 * a return. */
static void has_come_back(struct reprise_lane *lane, struct reprise_trace *trace, uint64_t now)
{
	if (lane->failed != NULL && covers(trace, lane->failed)) {
		has_recovered(lane->failed, now);
		lane->failed = NULL;
	}
	has_recovered(trace, now);
	if (!reprise_trace_comes_back(trace, now))
		return;
	reprise_count(REPRISE_COUNT_cooldown_returns, 1);
	trace->cooldown_until = 0;
}

REPRISE_HOT void reprise_launch_count(struct reprise_lane *lane, struct reprise_trace *trace,
                                      unsigned int patched, uint64_t now)
{
	reprise_lane_count(&lane->counts.replayed, trace->count);
	reprise_lane_count(&lane->counts.patched, patched);
	reprise_lane_count(&lane->counts.launches, 1);
	trace->counts.patched += patched;
	trace->replays++;
	trace->refusals = 0;
	if (__builtin_expect((trace->failed_at | trace->cooldown_until | (uintptr_t)lane->failed) != 0,
	                     0))
		has_come_back(lane, trace, now);
}

static struct reprise_pending *at(struct reprise_pending_queue *queue, uint64_t i)
{
	return &queue->visits[i % REPRISE_PENDING_MOST];
}

/* ---- making pending launches: under the queue's lock ---- */

static bool launch_graph(struct reprise_lane *lane, const struct reprise_pending *visit)
{
	struct reprise_trace *trace = visit->trace;
	struct reprise_launch launch = {.trace = trace,
	                                .ops = trace->ops,
	                                .changed = trace->wanted,
	                                .nodes = visit->patched};

	return reprise_launch_graph(lane, &launch) == REPRISE_PATCH_DONE;
}

/* The graph lacks the values committed to its trace. `mixed` makes the next visit update the whole
 * graph, or build it anew. */
static void issue_instead(struct reprise_lane *lane, struct reprise_pending *visit)
{
	struct reprise_trace *trace = visit->trace;

	for (unsigned int i = 0; i < trace->count; i++)
		reprise_errors_keep(lane, lane->stream, reprise_op_issue(&trace->ops[i], lane->stream));
	trace->graph.mixed = true;
	visit->failed = true;
}

static void launch(struct reprise_lane *lane, struct reprise_pending *visit)
{
	struct reprise_trace *trace = visit->trace;
	uint64_t entered_at = reprise_timeline_begin();
	struct reprise_timeline_about about = {.lane = lane->number,
	                                       .graph = trace->graph.number,
	                                       .ops = trace->count};
	int entered = reprise_enter();
	bool pushed = reprise_driver_make_current(lane->context), replayed;

	reprise_gate_begin_giving(lane->context);
	replayed = launch_graph(lane, visit);
	if (!replayed) {
		about.reason = reprise_exit_words[REPRISE_EXIT_launch];
		issue_instead(lane, visit);
	}
	reprise_gate_end_giving();
	reprise_driver_restore_current(pushed);
	reprise_leave(entered);
	reprise_timeline_end(replayed ? REPRISE_TIMELINE_REPLAY : REPRISE_TIMELINE_EXIT, entered_at,
	                     about);
	reprise_hold_tell(lane, visit->held_since, trace->count);
}

const struct reprise_pending *reprise_pending_launch_oldest(struct reprise_lane *lane, bool by_us)
{
	struct reprise_pending_queue *queue = &lane->queue;
	struct reprise_pending *oldest;

	if (reprise_pending_none(lane))
		return NULL;
	oldest = at(queue, reprise_pending_launched(lane));
	launch(lane, oldest);
	reprise_count(by_us ? REPRISE_COUNT_async_launches : REPRISE_COUNT_launches_forced,
	              !oldest->failed);
	reprise_count(REPRISE_COUNT_async_patches, by_us && !oldest->failed ? oldest->patched : 0);
	atomic_fetch_add_explicit(&queue->launched, 1, memory_order_release);
	return oldest;
}

/* ---- counting and finishing pending launches: under the lane's lock ---- */

static void count(struct reprise_lane *lane, const struct reprise_pending *visit)
{
	struct reprise_trace *trace = visit->trace;

	if (__builtin_expect(!visit->failed, 1)) {
		reprise_launch_count(lane, trace, visit->patched, visit->completed_at);
		return;
	}
	reprise_visit_note_exit(lane, trace, REPRISE_EXIT_launch, trace->count);
	reprise_visit_note_failure(lane, trace, visit->completed_at);
}

REPRISE_HOT void reprise_pending_count(struct reprise_lane *lane)
{
	struct reprise_pending_queue *queue = &lane->queue;
	uint64_t launched = reprise_pending_launched(lane);

	for (; queue->counted != launched; queue->counted++)
		count(lane, at(queue, queue->counted));
}

void reprise_pending_note_launched(struct reprise_lane *lane)
{
	reprise_hold_again(lane);
	reprise_pending_count(lane);
}

/* The launch took the program's time after all: it counts in the balance. */
static void weigh(struct reprise_lane *lane, struct reprise_trace *trace, uint64_t ticks)
{
	if (reprise_visit_is_measured() && !reprise_balance_side_exit(trace, ticks))
		reprise_visit_note_loss(lane, trace);
}

void reprise_pending_finish_all(struct reprise_lane *lane, bool wait)
{
	const struct reprise_pending *visit;

	while (!reprise_pending_none(lane)) {
		uint64_t begin = reprise_clock_ticks();

		/* The launch thread may be launching. It gives the lock between two launches, so neither
		 * thread sleeps for long. */
		reprise_lock_take(&lane->queue.lock);
		visit = reprise_pending_launch_oldest(lane, false);
		reprise_lock_give(&lane->queue.lock);
		if (visit == NULL)
			break; /* the launch thread has launched the last one */
		visit->trace->waited_for = visit->trace->waited_for || wait;
		visit->trace->forced += visit->trace->forced < UINT8_MAX;
		weigh(lane, visit->trace, reprise_clock_since(begin));
	}
	reprise_pending_note_launched(lane);
}

bool reprise_pending_try_take(struct reprise_lane *lane)
{
	return reprise_lock_try(&lane->queue.lock);
}

void reprise_pending_finish_taken(struct reprise_lane *lane)
{
	while (reprise_pending_launch_oldest(lane, true) != NULL)
		continue;
	reprise_lock_give(&lane->queue.lock);
	reprise_pending_note_launched(lane);
}

/* ---- adding a pending launch ---- */

REPRISE_HOT void reprise_pending_prepare(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	struct reprise_pending *visit =
		at(&lane->queue, atomic_load_explicit(&lane->queue.added, memory_order_relaxed));

	reprise_pending_count(lane); /* this slot's last visit may not be counted yet */
	*visit = (struct reprise_pending){.trace = trace,
	                                  .patched = trace->changed_count,
	                                  .since = lane->visit_since,
	                                  .held_since = lane->held_since,
	                                  .completed_at = lane->counts.ops};
	if (visit->since == 0)
		visit->since = reprise_clock_ns(); /* a visit of one op has no begin noted */
	for (unsigned int word = 0; visit->patched > 0 && word < (trace->count + 63) / 64; word++)
		trace->wanted[word] = trace->changed[word];
}

REPRISE_HOT void reprise_pending_add(struct reprise_lane *lane)
{
	uint64_t added = atomic_load_explicit(&lane->queue.added, memory_order_relaxed);

	if (atomic_load_explicit(&lane->deferred_since, memory_order_relaxed) == 0)
		reprise_lane_hold_since(lane, at(&lane->queue, added)->since);
	lane->visit_since = lane->held_since = 0;
	lane->trace->pending_as = added + 1;
	atomic_store(&lane->queue.added, added + 1); /* before the launch thread's state is read */
}
