/*
 * Following and watching. This file keeps invariants 1, 2, 5 and 7: what was answered is issued, each op once and in order, by a
 * graph whose every node equals what was asked, or eagerly; and nothing that fails here is seen by the program.
 */
#include "lane.h"

#include "../base/clock.h"
#include "../base/inside.h"
#include "../base/options.h"
#include "../base/store.h"
#include "../base/thread.h"
#include "../driver/driver.h"
#include "../graph/cost.h"
#include "../graph/shadow.h"
#include "../op/cost.h"
#include "../op/name.h"
#include "../report/counters.h"
#include "../report/gpu.h"
#include "../report/histogram.h"
#include "../report/pauses.h"
#include "../report/places.h"
#include "../report/series.h"
#include "../timeline/timeline.h"
#include "../trace/balance.h"
#include "doors.h"
#include "hold.h"
#include "inner.h"
#include "meeting.h"
#include "verify.h"

#define DROWSY_LEAST 7168  /* a lane in which nothing repeats is left alone for so many ops, */
#define DROWSY_MOST 114688 /* twice as many each time up to so many, */
#define GLANCE_OPS 1024    /* and watched for so many, by turns */
#define WORTH_OPS 16       /* an op that is replayed is worth watching so many: what comes again by chance alone is not */

#define MEASURED 0 /* the first word of REPRISE_PAYS */
#define TOLD 256   /* ops between two words to the series over time */
#define TIMED 17   /* one eager call in so many is timed: no divisor of common periods */

/* Side exits that a trace takes to see whether other values come again, too. */
#define STRANGERS_MOST 24
#define STRANGER_IS_NEW 8 /* values that nobody has seen weigh as much as so many others */

#define REFUSALS_MOST 3 /* visits one after another that the driver refuses the graph, before it is built anew for what comes now */

_Atomic uint32_t reprise_attention;
bool reprise_dry;

/* ---- watching ---- */

/* Whether a graph may end before this op: nothing that came before runs beside it. */
static bool is_border(const struct reprise_lane *lane, const struct reprise_op *op)
{
	return lane->joint == NULL || reprise_joint_is_border(lane->joint, op->member);
}

static void keep_op(struct reprise_lane *lane, const struct reprise_op *op, uint64_t gap_ticks)
{
	bool border = is_border(lane, op);

	lane->spot = (struct reprise_spot){op->shape, op->value, lane->spot.position + 1};
	lane->last = NULL;
	if (op->kind == REPRISE_OP_KERNEL)
		reprise_name_seen(op->kernel.name);
	reprise_watch_keep(lane->watch, gap_ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)gap_ticks, border, reprise_lane_make_traces, lane);
}

static void open_segment(struct reprise_lane *lane)
{
	if (!lane->watching) {
		reprise_watch_begin(lane->watch, &lane->spot);
		if (lane->joint != NULL)
			lane->joint->recent = 0;
	}
	lane->watching = true;
}

static void close_segment(struct reprise_lane *lane, bool wait)
{
	if (lane->watching)
		reprise_watch_end(lane->watch, wait, reprise_lane_make_traces, lane);
	lane->watching = false;
}

/* The next so many ops pass without being looked at. */
static void leave_alone(struct reprise_lane *lane, uint32_t ops)
{
	lane->counts.ops += ops;
	lane->counts.drowsy += ops;
	atomic_store_explicit(&lane->drowsy_ops, ops, memory_order_relaxed);
}

/* An op that came by the long way though the lane is left alone; it was counted already. */
static bool is_left_alone(struct reprise_lane *lane)
{
	uint32_t left = atomic_load_explicit(&lane->drowsy_ops, memory_order_relaxed);

	if (left > 0)
		atomic_store_explicit(&lane->drowsy_ops, left - 1, memory_order_relaxed);
	return left > 0;
}

/* Whether nothing has repeated for so long that the lane is left alone for a while, from this op on. */
static bool falls_drowsy(struct reprise_lane *lane)
{
	if (is_left_alone(lane)) {
		lane->counts.ops--;
		return true;
	}
	if (lane->counts.ops < lane->awake_until || lane->joint != NULL)
		return false;
	close_segment(lane, false);
	reprise_lane_move_to(lane, REPRISE_BEFORE_NOTHING);
	lane->drowsy_span = lane->drowsy_span == 0 ? DROWSY_LEAST : lane->drowsy_span < DROWSY_MOST ? lane->drowsy_span * 2 : DROWSY_MOST;
	leave_alone(lane, lane->drowsy_span);
	lane->awake_until = lane->counts.ops + GLANCE_OPS;
	return true;
}

/* An op that a side exit issued is watched like any other. */
static void watch_issued(struct reprise_lane *lane, const struct reprise_op *op, uint64_t gap_ticks)
{
	struct reprise_op *slot;

	open_segment(lane);
	slot = reprise_watch_slot(lane->watch, op);
	if (slot == NULL)
		return;
	reprise_op_copy(slot, op);
	keep_op(lane, slot, gap_ticks);
}

/* ---- following ---- */

static void defer_begins(struct reprise_lane *lane)
{
	if (reprise_dry)
		return;
	atomic_store(&lane->deferred_since, reprise_clock_ns()); /* before looking whether the hold limit's thread sleeps */
	lane->held_since = reprise_timeline_begin();
	reprise_hold_watch();
}

static void defer_ends(struct reprise_lane *lane)
{
	if (atomic_load_explicit(&lane->deferred_since, memory_order_relaxed) == 0)
		return;
	atomic_store_explicit(&lane->deferred_since, 0, memory_order_release);
	reprise_timeline_end(REPRISE_TIMELINE_HOLD, lane->held_since, (struct reprise_timeline_about){.lane = lane->number, .ops = lane->cursor});
}

/* The trace costs more than it saves: eager for a while. */
static void note_loss(struct reprise_lane *lane, struct reprise_trace *trace)
{
	reprise_trace_put_aside(trace, lane->counts.ops);
	lane->counts.lost++;
	trace->counts.losses++;
}

static bool is_measured(void)
{
	return reprise_option(REPRISE_OPTION_PAYS) == MEASURED;
}

static const struct reprise_op *op_to_issue(struct reprise_lane *lane, unsigned int i)
{
	const struct reprise_op *op = reprise_trace_op(lane->trace, i);

	return __builtin_expect(reprise_verifying, 0) ? reprise_verify_op(lane, i, op) : op;
}

static CUresult issue_jointly(struct reprise_lane *lane, const struct reprise_op *op)
{
	CUresult result;

	reprise_joint_issues(lane, op->kind, op->member, op->event);
	result = reprise_op_issue(op, lane->joint->streams[op->member]);
	if (result != CUDA_SUCCESS)
		reprise_joint_lose(lane);
	return result;
}

static CUresult issue(struct reprise_lane *lane, const struct reprise_op *op)
{
	return lane->joint == NULL ? reprise_op_issue(op, lane->stream) : issue_jointly(lane, op);
}

/* Issues the ops of this visit before op `count` one by one; returns the last result. */
static CUresult issue_eagerly(struct reprise_lane *lane, unsigned int count)
{
	uint64_t begin = reprise_clock_ns();
	CUresult result = CUDA_SUCCESS;

	for (unsigned int i = 0; i < count; i++)
		if (!reprise_trace_absent(lane->trace, i))
			result = issue(lane, op_to_issue(lane, i));
	reprise_cost_took(REPRISE_COST_eager, reprise_clock_ns() - begin, count - lane->trace->absent_count);
	return result;
}

/* The followed trace is left, or was not launched; so many ops were issued instead. */
static void note_exit(struct reprise_lane *lane, enum reprise_exit why, unsigned int ops)
{
	lane->counts.exits[why]++;
	lane->counts.exited[why] += ops;
	lane->trace->counts.exits[why]++;
	lane->trace->counts.exited_ops += ops;
}

/* What the timeline has to say of the followed trace. */
static struct reprise_timeline_about about(const struct reprise_lane *lane, const char *reason, unsigned int ops)
{
	return (struct reprise_timeline_about){.lane = lane->number, .reason = reason, .graph = lane->trace->graph.number, .ops = ops};
}

/* The side exit. */
static void leave(struct reprise_lane *lane, enum reprise_exit why)
{
	struct reprise_trace *trace = lane->trace;
	unsigned int count = lane->cursor;
	uint64_t entered_at = reprise_timeline_begin(), begin, end;

	if (trace == NULL)
		return;
	if (!reprise_dry) {
		int entered = reprise_enter();
		bool pushed = reprise_lane_make_current(lane->context);

		reprise_gate_enter();
		issue_eagerly(lane, count);
		reprise_gate_leave();
		reprise_lane_restore(pushed);
		reprise_leave(entered);
	}
	reprise_timeline_end(REPRISE_TIMELINE_EXIT, entered_at, about(lane, reprise_exit_names[why], count - trace->absent_count));
	begin = reprise_clock_ticks(); /* issuing cost what the program's own calls would have */
	defer_ends(lane);
	note_exit(lane, why, count - trace->absent_count);
	lane->last = NULL;
	lane->expected = NULL;
	/* Nobody timed the deferred ops: the program's pauses are taken to be what they were. */
	for (unsigned int i = 0; i < count; i++)
		if (!reprise_trace_absent(trace, i))
			watch_issued(lane, reprise_trace_op(trace, i), reprise_clock_ns_to_ticks(trace->gap_ns));
	reprise_trace_settle(trace, false);
	if (why == REPRISE_EXIT_values)
		lane->only_watch_until = lane->counts.ops + trace->count - count;
	else
		reprise_trace_disappointed(trace, lane->counts.ops);
	end = reprise_clock_ticks();
	lane->counts.exit_ticks += end - begin;
	if (!reprise_dry && is_measured() && !reprise_balance_left(trace, end - begin))
		note_loss(lane, trace);
	atomic_store_explicit(&lane->last_return, end, memory_order_relaxed);
	lane->trace = NULL;
	lane->cursor = 0;
}

static void enter(struct reprise_lane *lane, struct reprise_trace *trace)
{
	if (lane->last != NULL)
		reprise_index_follow(lane->last, trace);
	lane->trace = trace;
	lane->cursor = 0;
	if (__builtin_expect(reprise_verifying, 0))
		reprise_verify_begin(lane);
}

/* The visit was completed: by a graph, or eagerly after a failure. */
static void complete(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;

	lane->spot = reprise_lane_spot_within(trace->ops, trace->loose, trace->count, &lane->spot);
	lane->last = trace;
	lane->expected = trace->follower;
	lane->trace = NULL;
	lane->cursor = 0;
}

/* The graph cannot be had in this visit's values: this time eagerly, and built anew behind the program's back. */
static void rebuild(struct reprise_lane *lane, struct reprise_trace *trace)
{
	reprise_trace_settle(trace, true);
	reprise_trace_put_aside(trace, lane->counts.ops);
	reprise_graph_retire(&trace->graph);
	reprise_graph_build(&trace->graph);
	reprise_count(REPRISE_COUNT_rebuilds, 1);
	trace->refusals = 0;
}

/* The graph was not launched, and the ops were issued. Values that are refused once leave it as it was, good for those that it had. */
static void not_launched(struct reprise_lane *lane, struct reprise_trace *trace, enum reprise_patch why)
{
	if (why != REPRISE_PATCH_NOT_NOW && trace->failed_at == 0)
		trace->failed_at = lane->counts.ops;
	if (why == REPRISE_PATCH_BROKEN || (why == REPRISE_PATCH_REFUSED && ++trace->refusals >= REFUSALS_MOST)) {
		rebuild(lane, trace);
		return;
	}
	reprise_trace_settle(trace, false);
	if (why == REPRISE_PATCH_REFUSED)
		reprise_trace_disappointed(trace, lane->counts.ops);
}

static CUresult launch_graph(struct reprise_lane *lane, const struct reprise_trace *trace)
{
	CUresult result;

	if (__builtin_expect(lane->joint == NULL, 1))
		return reprise_driver.cuGraphLaunch(trace->graph.executable, lane->stream);
	result = reprise_driver.cuGraphLaunch(trace->graph.executable, reprise_joint_origin(lane, trace));
	if (result == CUDA_SUCCESS)
		reprise_joint_launched(lane, trace);
	return result;
}

static enum reprise_patch launch(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	enum reprise_patch patch = REPRISE_PATCH_DONE;
	uint64_t patched_at = 0;

	if (__builtin_expect(reprise_trace_needs_patch(trace), 0)) {
		uint64_t begin = reprise_timeline_begin();

		patch = reprise_graph_patch(&trace->graph, trace->incoming, trace->changed, trace->absent);
		patched_at = reprise_clock_ns();
		reprise_timeline_end(REPRISE_TIMELINE_PATCH, begin, about(lane, NULL, trace->changed_count + trace->absent_count));
	}
	if (__builtin_expect(reprise_verifying, 0) && patch == REPRISE_PATCH_DONE && !reprise_verify_graph(lane))
		return REPRISE_PATCH_REFUSED;
	if (patch == REPRISE_PATCH_DONE && launch_graph(lane, trace) != CUDA_SUCCESS) {
		reprise_count(REPRISE_COUNT_launches_failed, 1);
		patch = REPRISE_PATCH_BROKEN;
	}
	if (patch == REPRISE_PATCH_DONE && patched_at != 0)
		reprise_cost_took(REPRISE_COST_launch, reprise_clock_ns() - patched_at, 1);
	return patch;
}

/* The visit is over, and its ops were issued by the graph; in observe, they would have been. */
static void replayed(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;

	lane->counts.replayed += trace->count - trace->absent_count;
	lane->counts.patched += trace->changed_count;
	lane->counts.absent += trace->absent_count;
	lane->counts.launches++;
	trace->counts.patched += trace->changed_count;
	trace->counts.absent += trace->absent_count;
	reprise_lane_stay_awake(lane, WORTH_OPS * trace->count);
	if (__builtin_expect(trace->failed_at != 0, 0))
		reprise_count_most(REPRISE_COUNT_recovery_ops, lane->counts.ops - trace->failed_at);
	trace->failed_at = 0;
	trace->refusals = 0;
	reprise_trace_settle(trace, true);
	reprise_trace_succeeded(trace, lane->counts.ops);
	reprise_index_use(lane->index, trace);
}

/* All ops of the trace have come: the graph takes their place. Returns what the last of them is to answer. */
static CUresult replay(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	CUresult result = CUDA_SUCCESS;
	int entered = reprise_enter();

	reprise_gate_enter();

	uint64_t entered_at = reprise_timeline_begin();
	bool timed = is_measured() && reprise_balance_wants(trace), patched = reprise_trace_needs_patch(trace);
	uint64_t begin = timed ? reprise_clock_ticks() : 0;
	enum reprise_patch launched = launch(lane);
	uint64_t took = timed ? reprise_clock_ticks() - begin : 0;

	if (launched == REPRISE_PATCH_DONE) {
		reprise_timeline_end(REPRISE_TIMELINE_REPLAY, entered_at, about(lane, NULL, trace->count - trace->absent_count));
		if (timed && !patched)
			reprise_histogram_note(REPRISE_HISTOGRAM_graph, took);
		replayed(lane);
		if (timed && !reprise_balance_replayed(trace, took))
			note_loss(lane, trace);
	} else {
		note_exit(lane, REPRISE_EXIT_launch, trace->count - trace->absent_count);
		result = issue_eagerly(lane, trace->count);
		reprise_timeline_end(REPRISE_TIMELINE_EXIT, entered_at, about(lane, reprise_exit_names[REPRISE_EXIT_launch], trace->count - trace->absent_count));
		not_launched(lane, trace, launched);
	}
	reprise_gate_leave();
	reprise_leave(entered);
	defer_ends(lane);
	complete(lane);
	return result;
}

/* The op at the cursor has come. True if it is answered, with *result. */
static bool advance(struct reprise_lane *lane, CUresult *result)
{
	lane->cursor++;
	*result = CUDA_SUCCESS;
	if (lane->cursor < lane->trace->count) {
		if (lane->cursor == 1)
			defer_begins(lane);
	} else if (reprise_dry) {
		replayed(lane);
		complete(lane);
	} else {
		*result = replay(lane);
	}
	return !reprise_dry;
}

/* The call is the op at the cursor. */
static bool answer(struct reprise_lane *lane, const struct reprise_call *call, CUresult *result)
{
	if (__builtin_expect(reprise_verifying, 0))
		reprise_verify_ask(lane, call);
	return advance(lane, result);
}

/* Goes on with another trace that agrees with all that is deferred. */
static void change_over(struct reprise_lane *lane, struct reprise_trace *sibling)
{
	struct reprise_trace *trace = lane->trace;

	for (unsigned int i = 0; i < lane->cursor; i++)
		reprise_trace_adopt(sibling, i, reprise_trace_op(trace, i));
	reprise_trace_settle(trace, false);
	lane->trace = sibling;
	lane->counts.siblings++;
}

/* Whether its graph may be launched after what came before its first op. */
static bool may_enter(const struct reprise_lane *lane, const struct reprise_trace *trace)
{
	if (lane->joint == NULL || reprise_joint_covers(lane->joint, trace))
		return true;
	reprise_count(REPRISE_COUNT_joint_uncovered, 1);
	return false;
}

/*
 * Whether the call is the op that is expected at the cursor of the followed trace, or of a sibling, or a little later. If it is not, *why is the
 * reason to leave.
 *
 * Where a trace is not loose and other values come than its own, it is left, rather than patched: they may come again, in a cycle of a few,
 * or belong to another place that looks alike so far. Seen eagerly a few times they get a trace of their own, and no visit needs a patch.
 */
static bool guard(struct reprise_lane *lane, const struct reprise_call *call, enum reprise_exit *why)
{
	struct reprise_trace *trace = lane->trace;
	enum reprise_match match = reprise_op_match(&trace->ops[lane->cursor], call);

	if (__builtin_expect(match == REPRISE_MATCH_SAME, 1))
		return true;
	lane->coming = false;
	/* Where an op was absent, a sibling would have to do without the same one. */
	if (trace->absent_count == 0 && (match == REPRISE_MATCH_NOT || !trace->loose[lane->cursor])) {
		struct reprise_trace *sibling = reprise_index_sibling(lane->index, trace, lane->cursor, call,
		                                                      match != REPRISE_MATCH_NOT, lane->counts.ops, &lane->coming);

		if (sibling != NULL && may_enter(lane, sibling)) {
			change_over(lane, sibling);
			trace = sibling;
			match = reprise_op_match(&trace->ops[lane->cursor], call);
		}
	}
	*why = match == REPRISE_MATCH_NOT ? REPRISE_EXIT_guard : REPRISE_EXIT_values;
	if (match == REPRISE_MATCH_NOT || (match == REPRISE_MATCH_VALUES && !trace->loose[lane->cursor]))
		return reprise_lane_pass_over(lane, call);
	if (match != REPRISE_MATCH_SAME)
		reprise_trace_change(trace, lane->cursor, call);
	return true;
}

/* The trace was left before op `at` because of the values of `op`. If they are new, or nothing helps, any will do there from now on. */
static void note_stranger(struct reprise_lane *lane, struct reprise_trace *trace, unsigned int at, const struct reprise_op *op)
{
	if (lane->coming)
		return;
	trace->strangers += reprise_watch_knows(lane->watch, op->value) ? 1 : STRANGER_IS_NEW;
	if (trace->strangers < STRANGERS_MOST)
		return;
	reprise_index_loosen(lane->index, trace, at);
	trace->strangers = 0;
}

/* Enters `trace` if the call fits its first op. */
static bool begin(struct reprise_lane *lane, struct reprise_trace *trace, const struct reprise_call *call)
{
	enum reprise_match match = reprise_op_match(&trace->ops[0], call);

	if (match == REPRISE_MATCH_NOT || !may_enter(lane, trace))
		return false;
	enter(lane, trace); /* first, so that closing the segment cannot evict it */
	close_segment(lane, false);
	if (match != REPRISE_MATCH_SAME)
		reprise_trace_change(trace, 0, call);
	return true;
}

static bool expected_fits(const struct reprise_lane *lane, const struct reprise_call *call, enum reprise_match least)
{
	return lane->expected != NULL && reprise_trace_usable(lane->expected, lane->counts.ops) &&
	       reprise_op_match(&lane->expected->ops[0], call) >= least;
}

/* The trace that the op begins: values first, then the one that came next last time, then any of its shape. */
static struct reprise_trace *choose(struct reprise_lane *lane, const struct reprise_op *op, const struct reprise_call *call)
{
	struct reprise_trace *trace = reprise_index_find_value(lane->index, &lane->spot, op, lane->counts.ops);

	if (trace == NULL && lane->expected != NULL && lane->expected->loose[0] && expected_fits(lane, call, REPRISE_MATCH_VALUES))
		trace = lane->expected;
	if (trace == NULL)
		trace = reprise_index_find_shape(lane->index, &lane->spot, op, lane->counts.ops);
	return trace;
}

static void note_unfit(struct reprise_lane *lane, enum reprise_unfit why, const struct reprise_call *call)
{
	lane->counts.unfit[why]++;
	reprise_place_note(REPRISE_PLACE_unfit, reprise_unfit_names[why], call->from);
	close_segment(lane, false);
	reprise_lane_move_to(lane, REPRISE_BEFORE_BARRIER);
	lane->last = NULL;
	lane->expected = NULL;
}

/* Decides on one op, under the lane's lock. True if it is answered; else it is to be passed. */
static bool step(struct reprise_lane *lane, const struct reprise_call *call, CUresult *result)
{
	enum reprise_exit why = REPRISE_EXIT_guard;
	struct reprise_trace *left = NULL;
	unsigned int left_at = 0;

	lane->counts.ops++;
	lane->counts.kinds[call->kind]++;
	if (lane->trace != NULL) {
		if (guard(lane, call, &why))
			return answer(lane, call, result);
		left = lane->trace;
		left_at = lane->cursor;
		leave(lane, why);
	} else if (lane->counts.ops >= lane->only_watch_until && expected_fits(lane, call, REPRISE_MATCH_SAME) && begin(lane, lane->expected, call)) {
		return answer(lane, call, result);
	}

	struct reprise_op examined, *slot;
	enum reprise_unfit unfit;

	if (falls_drowsy(lane))
		return false;
	unfit = reprise_op_examine(&examined, call);

	if (unfit != REPRISE_UNFIT_NONE) {
		note_unfit(lane, unfit, call);
		return false;
	}
	open_segment(lane);
	slot = reprise_watch_slot(lane->watch, &examined);
	if (slot == NULL)
		return false;
	reprise_op_complete(slot, call);
	if (left != NULL && why == REPRISE_EXIT_values)
		note_stranger(lane, left, left_at, slot);

	struct reprise_trace *trace = lane->counts.ops >= lane->only_watch_until ? choose(lane, slot, call) : NULL;

	if (trace != NULL && begin(lane, trace, call))
		return answer(lane, call, result);
	keep_op(lane, slot, reprise_clock_ticks() - atomic_load_explicit(&lane->last_return, memory_order_relaxed));
	return false;
}

static bool ready(struct reprise_lane *lane)
{
	if (__builtin_expect(lane->watch != NULL && lane->index != NULL, 1))
		return true;
	if (lane->index == NULL)
		lane->index = reprise_store_take(REPRISE_STORE_WATCHED, sizeof(*lane->index));
	if (lane->watch == NULL)
		lane->watch = reprise_watch_new();
	if (lane->watch != NULL && lane->index != NULL)
		return true;
	if (!is_left_alone(lane)) {
		reprise_lane_make_room(lane);
		lane->counts.ops++;
		leave_alone(lane, GLANCE_OPS);
	}
	return false;
}

/* The program's own call. `first`: a barrier came before. */
static CUresult pass(struct reprise_lane *lane, const struct reprise_call *call, bool timed, bool first)
{
	uint64_t begin = timed ? reprise_clock_ticks() : 0, end, before;
	CUresult result = reprise_call_pass(call);

	end = reprise_clock_ticks();
	before = atomic_load_explicit(&lane->last_return, memory_order_relaxed);
	atomic_store_explicit(&lane->last_return, end, memory_order_relaxed);
	if (reprise_dry)
		reprise_pause_note(first, end - before);
	if (timed && result == CUDA_SUCCESS && !reprise_gpu_at_work()) {
		reprise_op_cost_note(call->kind, end - begin);
		reprise_histogram_note(REPRISE_HISTOGRAM_eager, end - begin);
	}
	return result;
}

void reprise_lane_tell_series(struct reprise_lane *lane)
{
	uint64_t ops = lane->counts.ops - atomic_load_explicit(&lane->drowsy_ops, memory_order_relaxed);

	if (!reprise_series_note(ops - lane->told_ops, lane->counts.replayed - lane->told_replayed))
		return;
	lane->told_ops = ops;
	lane->told_replayed = lane->counts.replayed;
}

void reprise_lane_attend(struct reprise_lane *lane)
{
	if (__builtin_expect(atomic_load_explicit(&lane->attended, memory_order_relaxed), 1))
		return;
	atomic_store_explicit(&lane->attended, true, memory_order_relaxed);
	atomic_fetch_add(&reprise_attention, 1);
}

void reprise_lane_unattend(struct reprise_lane *lane)
{
	if (!atomic_load_explicit(&lane->attended, memory_order_relaxed))
		return;
	atomic_store_explicit(&lane->attended, false, memory_order_relaxed);
	atomic_fetch_sub(&reprise_attention, 1);
}

/* All that a steady loop writes of it is the lane's own. */
static void note_caller(struct reprise_lane *lane)
{
	uint32_t self = reprise_thread_self();

	if (atomic_load_explicit(&lane->thread, memory_order_relaxed) != self)
		atomic_store_explicit(&lane->thread, self, memory_order_relaxed);
	atomic_store_explicit(&lane->noisy, true, memory_order_relaxed);
	reprise_lane_attend(lane);
}

/* Whether `head` has the ops of the lane's stream. Under the lock of `head`, or of the lane if that is NULL. */
static bool leads_to(const struct reprise_lane *lane, const struct reprise_lane *head)
{
	return __builtin_expect(atomic_load_explicit(&lane->joined, memory_order_relaxed) == head, 1);
}

struct reprise_lane *reprise_lane_take(struct reprise_lane *lane)
{
	for (;;) {
		struct reprise_lane *head = atomic_load_explicit(&lane->joined, memory_order_acquire), *taken = head != NULL ? head : lane;

		reprise_lock_take(&taken->lock);
		if (leads_to(lane, head))
			return taken;
		reprise_lock_give(&taken->lock);
	}
}

/* The same for an op of this thread's: a joint lane is one thread's. Says which member's it is. */
static struct reprise_lane *take_for_op(struct reprise_lane *lane, struct reprise_call *call)
{
	for (;;) {
		struct reprise_lane *taken = reprise_lane_take(lane);

		if (__builtin_expect(taken->joint == NULL, 1))
			return taken;
		call->member = lane->member;
		if (taken->joint->thread == reprise_thread_self())
			return taken;
		reprise_lock_give(&taken->lock);
		reprise_joint_part(lane, true);
		call->member = 0;
	}
}

/* Events tie streams together: alone, a lane has to issue what it holds. */
static bool is_barrier(const struct reprise_lane *lane, const struct reprise_call *call)
{
	return __builtin_expect(reprise_op_is_event(call->kind), 0) && lane->joint == NULL;
}

/* True if the op is answered; else it is to be passed. Under the lane's lock. */
static bool decide(struct reprise_lane *lane, const struct reprise_call *call, CUresult *result)
{
	bool answered = false;

	note_caller(lane);
	if (is_barrier(lane, call))
		reprise_lane_barrier(lane, false);
	else
		answered = ready(lane) && step(lane, call, result);
	if (__builtin_expect(lane->counts.ops % TOLD == 0 && reprise_reporting, 0))
		reprise_lane_tell_series(lane);
	return answered;
}

/* The driver refused it, so no trace may answer for it (invariant 5). */
static void refused(struct reprise_lane *found)
{
	struct reprise_lane *lane = reprise_lane_take(found);

	if (lane->watching)
		reprise_watch_drop(lane->watch);
	lane->watching = false;
	reprise_lane_move_to(lane, REPRISE_BEFORE_NOTHING);
	if (lane->joint != NULL && lane->trace == NULL)
		reprise_joint_lose(lane);
	reprise_lock_give(&lane->lock);
}

/* An eager op of a joint lane. True if that should be parted. */
static bool passes_jointly(struct reprise_lane *lane, const struct reprise_call *call)
{
	reprise_joint_issues(lane, call->kind, call->member, reprise_op_is_event(call->kind) ? call->event : NULL);
	return reprise_joint_disappoints(lane);
}

CUresult reprise_lane_submit(struct reprise_lane *found, struct reprise_call *call)
{
	struct reprise_lane *lane = take_for_op(found, call);
	uint64_t launches = lane->counts.launches;
	bool first = !atomic_load_explicit(&lane->noisy, memory_order_relaxed);
	CUresult result = CUDA_SUCCESS;
	bool answered = decide(lane, call, &result);
	bool timed = lane->counts.ops % TIMED == 0, launched = lane->counts.launches != launches;
	bool useless = !answered && lane->joint != NULL && passes_jointly(lane, call);

	reprise_lock_give(&lane->lock);
	if (answered)
		return __builtin_expect(reprise_verifying, 0) && launched ? reprise_verify_wait(lane) : result;

	result = pass(lane, call, timed, first);
	if (result != CUDA_SUCCESS)
		refused(found);
	else if (__builtin_expect(reprise_op_is_event(call->kind), 0))
		reprise_meeting_note(found, call);
	if (useless)
		reprise_joint_part(found, true);
	return result;
}

void reprise_lane_barrier(struct reprise_lane *lane, bool wait)
{
	leave(lane, REPRISE_EXIT_barrier);
	close_segment(lane, wait);
	reprise_lane_move_to(lane, wait ? REPRISE_BEFORE_WAIT : REPRISE_BEFORE_BARRIER);
	if (wait)
		lane->spot.position = 0;
	/*
	 * It counts in reprise_attention until it is told again without news: a loop that waits once in each iteration does not write what all threads read.
	 * What comes on the streams of a joint lane has to be told in any case.
	 */
	atomic_store_explicit(&lane->noisy, lane->joint != NULL, memory_order_relaxed);
}

void reprise_lane_tell(struct reprise_lane *lane, bool wait)
{
	if (!reprise_lane_has_news(lane) && !atomic_load(&lane->attended))
		return;
	reprise_lock_take(&lane->lock);
	if (reprise_lane_has_news(lane)) /* it may have come since */
		reprise_lane_barrier(lane, wait);
	else
		reprise_lane_unattend(lane);
	reprise_lock_give(&lane->lock);
}

bool reprise_lane_defers(const struct reprise_lane *lane, CUevent event)
{
	for (unsigned int i = 0; i < lane->cursor; i++)
		if (lane->trace->ops[i].kind == REPRISE_OP_RECORD && lane->trace->ops[i].event == event)
			return true;
	return false;
}

void reprise_lane_hold_limit(struct reprise_lane *lane)
{
	struct reprise_trace *trace = lane->trace;
	unsigned int at = lane->cursor;
	bool pushed;

	if (trace == NULL || at == 0)
		return;
	pushed = reprise_lane_make_current(lane->context);
	reprise_count(REPRISE_COUNT_hold_flushes, 1);
	leave(lane, REPRISE_EXIT_hold);
	if (reprise_trace_held(trace, at))
		reprise_lane_split(lane, trace, at);
	reprise_lane_restore(pushed);
}
