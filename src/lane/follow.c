/* Keeps invariants 1, 5 and 7. What was answered is issued by a graph whose nodes equal the
 * program's calls, or eagerly. The program sees no failure of Reprise's own calls. */
#include "lane/follow.h"

#include <limits.h>

#include "base/clock.h"
#include "base/gate.h"
#include "base/inside.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "stats/counters.h"
#include "stats/histogram.h"
#include "graph/building.h"
#include "graph/cost.h"
#include "graph/shadow.h"
#include "trace/balance.h"
#include "trace/classes.h"
#include "lane/async_launch.h"
#include "lane/group/group.h"
#include "lane/hold.h"
#include "lane/launch.h"
#include "lane/observe.h"
#include "lane/own_stream.h"
#include "lane/side_exit.h"
#include "lane/verify.h"

/* True if its graph may be launched behind what came before its first op. */
static bool is_covered(const struct reprise_lane *lane, const struct reprise_trace *trace)
{
	return lane->group == NULL || reprise_group_covers(lane->group, trace);
}

/* No visit begins while what came instead of a trace is watched in one piece; while a call waits
 * for all work, which may include the deferred ops; or while the launch could find no room. */
static bool may_begin(struct reprise_lane *lane)
{
	return lane->counts.ops >= lane->only_watch_until &&
	       __builtin_expect(atomic_load(&reprise_gate_waiting) == 0, 1) &&
	       reprise_backlog_is_small(lane);
}

/* True if the graph will probably be patched: the first op matches like that, or others take any
 * value. */
static bool expects_patch(const struct reprise_trace *trace, enum reprise_match match)
{
	if (match != REPRISE_MATCH_SAME || trace->graph.mixed)
		return true;
	for (unsigned int i = 1; i < trace->count; i++)
		if (trace->any_value[i])
			return true;
	return false;
}

/* False if the visit would be of a class that is not known to gain: its ops are eager. */
static bool is_worth_a_visit(struct reprise_lane *lane, const struct reprise_trace *trace,
                             enum reprise_match match)
{
	bool patched;

	if (!reprise_visit_is_judged(trace))
		return true;
	patched = expects_patch(trace, match);
	if (reprise_class_take_visit(trace, patched))
		return true;
	if (reprise_class_rests(trace->visit_class, patched))
		reprise_lane_hasten_backoff(lane, trace->count);
	lane->short_at = lane->counts.ops;
	reprise_lane_count(&lane->counts.short_eager, 1);
	return false;
}

/* True if its ops may be deferred. On a thread's own stream, others must be able to issue them. */
static bool can_be_held(struct reprise_lane *lane, const struct reprise_trace *trace)
{
	if (__builtin_expect(lane->owner == 0, 1))
		return true;
	lane->place_ticks = 0;
	return trace->count == 1 || reprise_observing || reprise_own_stream_note_place(lane);
}

/* Begins a visit of a trace whose graph may be launched. `match`: how the call matches its first
 * op. */
static bool begin(struct reprise_lane *lane, struct reprise_trace *trace,
                  const struct reprise_call *call, enum reprise_match match)
{
	if (!is_worth_a_visit(lane, trace, match) || !can_be_held(lane, trace))
		return false;
	if (lane->last != NULL)
		reprise_index_follow(lane->last, trace);
	lane->trace = trace; /* before the segment is closed, which must not evict it */
	lane->cursor = 0;
	lane->paused = false;
	if (__builtin_expect(reprise_verifying, 0))
		reprise_verify_begin(lane);
	reprise_lane_close_segment(lane, false);
	if (match != REPRISE_MATCH_SAME)
		reprise_trace_change(trace, 0, call);
	return true;
}

/* How the call matches the first op of the expected trace; REPRISE_MATCH_NOT if that trace cannot
 * be followed. */
static enum reprise_match match_expected(const struct reprise_lane *lane,
                                         const struct reprise_call *call)
{
	const struct reprise_trace *trace = lane->expected;

	return reprise_trace_usable(trace, lane->counts.ops) ? reprise_op_match(&trace->ops[0], call)
	                                                     : REPRISE_MATCH_NOT;
}

/* False if the trace is for another distance from a wait; or if a wait has cut its last visit from
 * here: there may be a trace of what is left. */
static bool fits_here(const struct reprise_lane *lane, const struct reprise_trace *trace)
{
	return (!trace->placed || trace->position.since_wait == lane->position.since_wait) &&
	       trace->cut_at != lane->position.since_wait;
}

/* True if no other trace is looked for, though its graph lacks the values: none was found in its
 * last visits that began so. */
static bool has_no_other(const struct reprise_trace *trace)
{
	return trace->no_other == REPRISE_TUNE_NO_OTHER && trace->visits % REPRISE_TUNE_NO_OTHER != 0;
}

bool reprise_lane_enter_expected(struct reprise_lane *lane, const struct reprise_call *call)
{
	lane->expected = reprise_index_longest(lane->expected, lane->counts.ops);

	if (!fits_here(lane, lane->expected))
		return false;

	enum reprise_match match = may_begin(lane) ? match_expected(lane, call) : REPRISE_MATCH_NOT;

	/* Where it is not covered, reprise_lane_enter_any() comes next, and counts that. */
	return (match == REPRISE_MATCH_SAME ||
	        (match != REPRISE_MATCH_NOT && has_no_other(lane->expected))) &&
	       is_covered(lane, lane->expected) && begin(lane, lane->expected, call, match);
}

/* The expected trace's graph lacks the call's values, and this trace was chosen. */
static void note_chosen(struct reprise_trace *expected, const struct reprise_trace *chosen)
{
	if (chosen != expected || !expected->any_value[0])
		expected->no_other = 0;
	else if (expected->no_other < REPRISE_TUNE_NO_OTHER)
		expected->no_other++;
}

static struct reprise_trace *choose(struct reprise_lane *lane, const struct reprise_op *op,
                                    const struct reprise_call *call)
{
	struct reprise_trace *trace =
		reprise_index_find_value(lane->index, &lane->position, op, lane->counts.ops);

	if (trace == NULL && lane->expected != NULL && lane->expected->any_value[0] &&
	    fits_here(lane, lane->expected) && match_expected(lane, call) != REPRISE_MATCH_NOT)
		trace = lane->expected;
	if (trace == NULL)
		trace = reprise_index_find_shape(lane->index, &lane->position, op, lane->counts.ops);
	return trace;
}

bool reprise_lane_enter_any(struct reprise_lane *lane, const struct reprise_op *op,
                            const struct reprise_call *call)
{
	bool refused = lane->short_at == lane->counts.ops; /* by the expected trace */
	struct reprise_trace *trace = !refused && may_begin(lane) ? choose(lane, op, call) : NULL;
	enum reprise_match match;

	if (trace == NULL)
		return false;
	if (lane->expected != NULL)
		note_chosen(lane->expected, trace);
	match = reprise_op_match(&trace->ops[0], call);
	if (match == REPRISE_MATCH_NOT)
		return false;
	if (!is_covered(lane, trace)) {
		reprise_count(REPRISE_COUNT_group_uncovered, 1);
		return false;
	}
	return begin(lane, trace, call, match);
}

/* ---- a guard that failed ---- */

/* Goes on with a sibling and copies this visit's values to it. */
static void change_over(struct reprise_lane *lane, struct reprise_trace *sibling)
{
	struct reprise_trace *trace = lane->trace;

	for (unsigned int i = 0; i < lane->cursor; i++)
		reprise_trace_copy_values(sibling, i, reprise_trace_op(trace, i));
	reprise_trace_end_visit(trace, false);
	lane->trace = sibling;
	reprise_lane_count(&lane->counts.siblings, 1);
}

/* The first op with other values than the graph has. True if a twin has these: it needs no patch so
 * far. */
static bool go_on_with_twin(struct reprise_lane *lane, const struct reprise_call *call)
{
	struct reprise_trace *coming, *twin;

	twin = reprise_index_sibling(lane->index, lane->trace, lane->cursor, call, true,
	                             lane->counts.ops, &coming);
	if (twin == NULL || !twin->twin || !is_covered(lane, twin) ||
	    reprise_op_match(&twin->ops[lane->cursor], call) != REPRISE_MATCH_SAME)
		return false;
	change_over(lane, twin);
	return true;
}

/* A value miss ends the visit rather than patching the graph: the values may come again in a cycle,
 * or belong to another site that looks alike so far. Watched a few times, they get a trace of their
 * own, and no visit needs a patch. */
bool reprise_lane_go_on(struct reprise_lane *lane, const struct reprise_call *call,
                        enum reprise_match match, enum reprise_exit *why)
{
	struct reprise_trace *trace = lane->trace;

	lane->coming = false;
	if (match == REPRISE_MATCH_VALUES && trace->has_twins && trace->changed_count == 0 &&
	    go_on_with_twin(lane, call))
		return true;
	if (match == REPRISE_MATCH_NOT || !trace->any_value[lane->cursor]) {
		struct reprise_trace *coming,
			*sibling = reprise_index_sibling(lane->index, trace, lane->cursor, call,
		                                     match != REPRISE_MATCH_NOT, lane->counts.ops, &coming);

		if (sibling == NULL && coming != NULL && reprise_trace_return(coming))
			sibling = coming;
		lane->coming = coming != NULL;
		if (sibling != NULL && !is_covered(lane, sibling)) {
			reprise_count(REPRISE_COUNT_group_uncovered, 1);
			sibling = NULL;
		}
		if (sibling != NULL) {
			change_over(lane, sibling);
			trace = sibling;
			match = reprise_op_match(&trace->ops[lane->cursor], call);
		}
	}
	*why = match == REPRISE_MATCH_NOT ? REPRISE_EXIT_guard : REPRISE_EXIT_values;
	if (match == REPRISE_MATCH_NOT ||
	    (match == REPRISE_MATCH_VALUES && !trace->any_value[lane->cursor]))
		return false;
	if (match != REPRISE_MATCH_SAME)
		reprise_trace_change(trace, lane->cursor, call);
	return true;
}

void reprise_lane_note_value_miss(struct reprise_lane *lane, struct reprise_trace *trace,
                                  unsigned int at, const struct reprise_op *op)
{
	if (lane->coming)
		return;
	trace->value_misses +=
		reprise_watch_knows(lane->watch, op->value) ? 1 : REPRISE_TUNE_VALUE_MISS_NEW;
	if (trace->value_misses < REPRISE_TUNE_VALUE_MISSES_MOST)
		return;
	reprise_index_set_any_value(lane->index, trace, at);
	trace->value_misses = 0;
}

/* ---- the end ---- */

/* The visit is complete: by a graph, or eagerly after a failure. */
REPRISE_HOT static void complete(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;

	if (trace->brought > 0)
		reprise_lane_note_values(lane, trace);
	lane->position =
		reprise_lane_position_within(trace->ops, trace->any_value, trace->count, &lane->position);
	lane->last = trace;
	lane->expected = trace->follower;
	lane->trace = NULL;
	lane->cursor = 0;
	reprise_held_none(&lane->held);
	reprise_held_none(&lane->held_waits);
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
	if (why != REPRISE_PATCH_NOT_NOW)
		reprise_visit_note_failure(lane, trace, lane->counts.ops);
	if (why == REPRISE_PATCH_BROKEN ||
	    (why == REPRISE_PATCH_REFUSED && ++trace->refusals >= REPRISE_TUNE_REBUILD_AFTER)) {
		rebuild(lane, trace);
		return;
	}
	reprise_trace_end_visit(trace, false);
	if (why == REPRISE_PATCH_REFUSED)
		reprise_trace_note_side_exit(trace, lane->counts.ops, trace->count);
}

REPRISE_HOT static enum reprise_patch launch(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	struct reprise_launch launch = {.trace = trace,
	                                .ops = trace->incoming,
	                                .changed = trace->changed,
	                                .nodes = trace->changed_count};

	return reprise_launch_graph(lane, &launch);
}

/* The visit is over, and its values are the trace's. Its graph was launched, or will be. */
REPRISE_HOT static void commit(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;

	reprise_lane_postpone_backoff(lane, REPRISE_TUNE_BACKOFF_WORTH * trace->count);
	trace->brought = trace->changed_count;
	if (__builtin_expect(trace->cut_at == lane->position.since_wait, 0))
		trace->cut_at = UINT_MAX;
	reprise_trace_end_visit(trace, true);
	reprise_trace_followed(trace, lane->counts.ops);
	reprise_index_use(lane->index, trace);
}

REPRISE_HOT static void count(struct reprise_lane *lane)
{
	reprise_launch_count(lane, lane->trace, lane->trace->changed_count, lane->counts.ops);
}

/* The graph was not launched: issues this visit's ops eagerly. Returns the driver's answer to the
 * last, which is the program's own call. */
static CUresult issue_instead(struct reprise_lane *lane, enum reprise_patch why, uint64_t begin)
{
	struct reprise_trace *trace = lane->trace;
	CUresult result;

	reprise_visit_note_exit(lane, trace, REPRISE_EXIT_launch, trace->count);
	result = reprise_lane_issue(lane, trace->count);
	reprise_timeline_end(REPRISE_TIMELINE_EXIT, begin,
	                     reprise_visit_about(lane, reprise_exit_words[REPRISE_EXIT_launch],
	                                         trace->count));
	not_launched(lane, trace, why);
	return result;
}

/* The launch is left to the launch thread: it costs the program nothing. */
REPRISE_HOT static void make_pending(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;

	reprise_pending_prepare(lane);
	commit(lane);
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
	bool patched = reprise_trace_needs_patch(trace), judged = reprise_visit_is_judged(trace);
	bool timed = reprise_visit_is_measured() &&
	             (reprise_balance_wants(trace) ||
	              (judged && !reprise_class_gains(trace->visit_class, patched)));
	uint64_t begin = timed ? reprise_clock_ticks() : 0;
	enum reprise_patch launched = launch(lane);
	uint64_t took = timed ? reprise_clock_since(begin) : 0;

	if (launched == REPRISE_PATCH_DONE) {
		reprise_timeline_end(REPRISE_TIMELINE_REPLAY, entered_at,
		                     reprise_visit_about(lane, NULL, trace->count));
		if (timed && !patched) {
			reprise_histogram_note(REPRISE_HISTOGRAM_graph, took);
			reprise_cost_took(REPRISE_COST_launch, reprise_clock_ticks_to_ns(took), 1);
		}
		count(lane);
		commit(lane);
		took += lane->place_ticks;
		if (timed && judged)
			timed = reprise_class_replayed(trace, patched, took);
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

/* A visit of a class that is still tried is launched here: the launch is to be timed. */
static bool is_tried(const struct reprise_trace *trace)
{
	return reprise_visit_is_judged(trace) &&
	       !reprise_class_gains(trace->visit_class, reprise_trace_needs_patch(trace));
}

REPRISE_HOT CUresult reprise_lane_replay(struct reprise_lane *lane)
{
	CUresult result = CUDA_SUCCESS;

	reprise_pace_visit(lane);
	if (reprise_async_launch_decide(lane) && !is_tried(lane->trace) &&
	    reprise_async_launch_ensure()) {
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
	count(lane);
	commit(lane);
	complete(lane);
}
