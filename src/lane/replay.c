/* Keeps invariants 1, 5 and 7. What was answered is issued by a graph whose nodes equal the
 * program's calls, or eagerly. The program sees no failure of Reprise's own calls. */
#include "lane/replay.h"

#include "base/clock.h"
#include "base/gate.h"
#include "base/hot.h"
#include "base/inside.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/building.h"
#include "graph/cost.h"
#include "graph/shadow.h"
#include "stats/counters.h"
#include "stats/histogram.h"
#include "trace/balance.h"
#include "lane/backoff.h"
#include "lane/hold.h"
#include "lane/group/group.h"
#include "lane/side_exit.h"
#include "lane/making.h"
#include "lane/pace.h"
#include "lane/pending.h"
#include "lane/async_launch.h"
#include "lane/verify.h"
#include "lane/visit.h"

/* The visit is complete: by a graph, or eagerly after a failure. */
REPRISE_HOT static void complete(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;

	lane->position =
		reprise_lane_position_within(trace->ops, trace->any_value, trace->count, &lane->position);
	lane->last = trace;
	lane->expected = trace->follower;
	lane->trace = NULL;
	lane->cursor = 0;
}

/* The graph cannot be brought to this visit's values: the builder builds it anew. */
static void rebuild(struct reprise_lane *lane, struct reprise_trace *trace)
{
	reprise_trace_end_visit(trace, true);
	reprise_trace_begin_cooldown(trace, lane->counts.ops);
	reprise_graph_retire(&trace->graph);
	reprise_graph_build(&trace->graph);
	reprise_count(REPRISE_COUNT_rebuilds, 1);
	trace->refusals = 0;
}

/* The graph was not launched, and the ops were issued eagerly. After REPRISE_PATCH_REFUSED the
 * graph is whole, with the values that it had. */
static void not_launched(struct reprise_lane *lane, struct reprise_trace *trace,
                         enum reprise_patch why)
{
	if (why != REPRISE_PATCH_NOT_NOW && trace->failed_at == 0)
		trace->failed_at = lane->counts.ops;
	if (why == REPRISE_PATCH_BROKEN ||
	    (why == REPRISE_PATCH_REFUSED && ++trace->refusals >= REPRISE_TUNE_REBUILD_AFTER)) {
		rebuild(lane, trace);
		return;
	}
	reprise_trace_end_visit(trace, false);
	if (why == REPRISE_PATCH_REFUSED)
		reprise_trace_note_side_exit(trace, lane->counts.ops);
}

static CUresult launch_graph(struct reprise_lane *lane, const struct reprise_trace *trace)
{
	CUresult result;

	if (__builtin_expect(lane->group == NULL, 1))
		return reprise_driver.cuGraphLaunch(trace->graph.executable, lane->stream);
	result =
		reprise_driver.cuGraphLaunch(trace->graph.executable, reprise_group_origin(lane, trace));
	if (result == CUDA_SUCCESS)
		reprise_group_launched(lane, trace);
	return result;
}

REPRISE_HOT static enum reprise_patch launch(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	enum reprise_patch patch = REPRISE_PATCH_DONE;
	uint64_t patched_at = 0;

	if (__builtin_expect(reprise_trace_needs_patch(trace), 0)) {
		uint64_t begin = reprise_timeline_begin();

		patch = reprise_graph_patch(&trace->graph, trace->incoming, trace->changed, trace->absent);
		patched_at = reprise_clock_ns();
		reprise_timeline_end(REPRISE_TIMELINE_PATCH, begin,
		                     reprise_visit_about(lane, NULL,
		                                         trace->changed_count + trace->absent_count));
	}
	if (__builtin_expect(reprise_verifying, 0) && patch == REPRISE_PATCH_DONE &&
	    !reprise_verify_graph(lane))
		return REPRISE_PATCH_REFUSED;
	if (patch == REPRISE_PATCH_DONE && launch_graph(lane, trace) != CUDA_SUCCESS) {
		reprise_count(REPRISE_COUNT_launches_failed, 1);
		patch = REPRISE_PATCH_BROKEN;
	}
	if (patch == REPRISE_PATCH_DONE && patched_at != 0)
		reprise_cost_took(REPRISE_COST_launch, reprise_clock_ns() - patched_at, 1);
	return patch;
}

/* A replay after a failure or a cooldown. A visit that began before the cooldown does not count as
 * a return. */
static void has_come_back(struct reprise_trace *trace, uint64_t now)
{
	if (trace->failed_at != 0)
		reprise_count_most(REPRISE_COUNT_recovery_ops, now - trace->failed_at);
	trace->failed_at = 0;
	if (!reprise_trace_comes_back(trace, now))
		return;
	reprise_count(REPRISE_COUNT_cooldown_returns, 1);
	trace->cooldown_until = 0;
}

/* The visit is over, and the graph issued its ops. While observing, it would have. */
REPRISE_HOT static void replayed(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;

	reprise_lane_count(&lane->counts.replayed, trace->count - trace->absent_count);
	reprise_lane_count(&lane->counts.patched, trace->changed_count);
	reprise_lane_count(&lane->counts.absent, trace->absent_count);
	reprise_lane_count(&lane->counts.launches, 1);
	trace->counts.patched += trace->changed_count;
	trace->counts.absent += trace->absent_count;
	reprise_lane_postpone_backoff(lane, REPRISE_TUNE_BACKOFF_WORTH * trace->count);
	if (__builtin_expect((trace->failed_at | trace->cooldown_until) != 0, 0))
		has_come_back(trace, lane->counts.ops);
	trace->refusals = 0;
	reprise_trace_end_visit(trace, true);
	reprise_trace_succeeded(trace, lane->counts.ops);
	reprise_index_use(lane->index, trace);
}

/* The graph was not launched: issues this visit's ops eagerly. Returns the driver's answer to the
 * last, which is the program's own call. */
static CUresult issue_instead(struct reprise_lane *lane, enum reprise_patch why, uint64_t begin)
{
	struct reprise_trace *trace = lane->trace;
	unsigned int ops = trace->count - trace->absent_count;
	CUresult result;

	reprise_visit_note_exit(lane, REPRISE_EXIT_launch, ops);
	result = reprise_lane_issue(lane, trace->count);
	reprise_timeline_end(REPRISE_TIMELINE_EXIT, begin,
	                     reprise_visit_about(lane, reprise_exit_names[REPRISE_EXIT_launch], ops));
	not_launched(lane, trace, why);
	return result;
}

/* The launch is left to the launch thread: it costs the program nothing. */
REPRISE_HOT static void make_pending(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;

	reprise_pending_note(lane);
	replayed(lane);
	if (reprise_visit_is_measured() && reprise_balance_wants(trace))
		reprise_balance_replayed(trace, 0);
	reprise_pending_add(lane);
	reprise_async_launch_wake();
	reprise_hold_wake(); /* another lane's launch may keep the launch thread in the driver */
}

REPRISE_HOT static CUresult launch_now(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	CUresult result = CUDA_SUCCESS;
	int entered = reprise_enter();

	reprise_gate_begin_giving(lane->context);

	uint64_t entered_at = reprise_timeline_begin();
	bool timed = reprise_visit_is_measured() && reprise_balance_wants(trace),
		 patched = reprise_trace_needs_patch(trace);
	uint64_t begin = timed ? reprise_clock_ticks() : 0;
	enum reprise_patch launched = launch(lane);
	uint64_t took = timed ? reprise_clock_ticks() - begin : 0;

	if (launched == REPRISE_PATCH_DONE) {
		reprise_timeline_end(REPRISE_TIMELINE_REPLAY, entered_at,
		                     reprise_visit_about(lane, NULL, trace->count - trace->absent_count));
		if (timed && !patched)
			reprise_histogram_note(REPRISE_HISTOGRAM_graph, took);
		replayed(lane);
		if (timed && !reprise_balance_replayed(trace, took))
			reprise_visit_note_loss(lane, trace);
	} else {
		result = issue_instead(lane, launched, entered_at);
	}
	reprise_gate_end_giving();
	reprise_leave(entered);
	reprise_hold_end(lane);
	return result;
}

REPRISE_HOT CUresult reprise_lane_replay(struct reprise_lane *lane)
{
	CUresult result = CUDA_SUCCESS;

	reprise_pace_visit(lane);
	if (reprise_async_launch_decide(lane) && reprise_async_launch_ensure()) {
		make_pending(lane);
	} else {
		reprise_pending_finish(lane, false);
		result = launch_now(lane);
	}
	complete(lane);
	return result;
}

void reprise_lane_replay_observed(struct reprise_lane *lane)
{
	reprise_pace_visit(lane);
	if (reprise_async_launch_decide(lane)) {
		reprise_count(REPRISE_COUNT_async_launches, 1);
		reprise_count(REPRISE_COUNT_async_patches, lane->trace->changed_count);
	}
	replayed(lane);
	complete(lane);
}
