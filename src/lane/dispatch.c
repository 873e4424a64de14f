/*
 * The way of an op: it is compared with the op that the followed trace expects, or begins a trace,
 * and is answered. Otherwise it is watched, and is an eager call.
 *
 * The path on which values agree stands in this file, so that the compiler sees it as one piece of
 * code. The rest is elsewhere: a visit (follow.c), its launch (launch.c), the end before its
 * last op and barriers (side_exit.c), watching (observe.c).
 */
#include "lane/dispatch.h"

#include "base/clock.h"
#include "base/ending.h"
#include "base/placement.h"
#include "base/store.h"
#include "base/tuning.h"
#include "gpu/gpu.h"
#include "graph/shadow.h"
#include "op/cost.h"
#include "op/function.h"
#include "op/kernel.h"
#include "stats/counters.h"
#include "stats/histogram.h"
#include "stats/kernels.h"
#include "stats/pauses.h"
#include "stats/sites.h"
#include "trace/beside.h"
#include "lane/side_exit.h"
#include "lane/threads.h"
#include "lane/observe.h"
#include "lane/ended_events.h"
#include "lane/follow.h"
#include "lane/hold.h"
#include "lane/group/group.h"
#include "lane/loading.h"
#include "lane/order.h"
#include "lane/own_stream.h"
#include "lane/launch.h"
#include "lane/registry.h"
#include "lane/turns.h"
#include "lane/verify.h"

/* ---- whose op it is ---- */

/* An op of a group that names the event comes. */
static void learn_event(struct reprise_lane *lane, CUevent event)
{
	if (__builtin_expect(reprise_ended_many(lane), 0))
		reprise_lane_barrier(lane, false);
	reprise_known_learn(&lane->events, event);
}

/* Locks and returns the lane that has the ops of *lane's stream, and sets the call's member. If
 * another thread's group has the stream, splits the group. If *lane is now another stream's, finds
 * the lane anew; NULL if there can be none any more. */
REPRISE_HOT static struct reprise_lane *take_for_op(struct reprise_lane **lane,
                                                    struct reprise_call *call)
{
	while (*lane != NULL) {
		struct reprise_lane *taken = reprise_lane_take(*lane);

		if (__builtin_expect(reprise_lanes_moved(), 0)) {
			reprise_lock_give(&taken->lock);
			*lane = reprise_lanes_find(call->stream, call->per_thread);
			continue;
		}
		if (__builtin_expect(taken->group == NULL, 1))
			return taken;
		call->member = (*lane)->member;
		if (taken->group->thread == reprise_thread_self()) {
			if (reprise_op_is_event(call->kind))
				learn_event(taken, call->event);
			return taken;
		}
		reprise_lock_give(&taken->lock);
		reprise_group_split(*lane, true);
		call->member = 0;
	}
	return NULL;
}

/* In a steady loop it writes only to the lane's own cache lines. */
static void note_caller(struct reprise_lane *lane, struct reprise_call *call)
{
	uint32_t self = reprise_thread_self();

	call->foreign = atomic_load_explicit(&lane->thread, memory_order_relaxed) != self;
	if (call->foreign)
		atomic_store_explicit(&lane->thread, self, memory_order_relaxed);
	atomic_store_explicit(&lane->noisy, true, memory_order_relaxed);
	reprise_lane_attend(lane);
}

/* ---- an op that agrees ---- */

/* False if the wait, which is the op at the cursor, is for an event recorded before the graph which
 * the graph may not begin behind. */
static bool takes_wait(const struct reprise_lane *lane, CUevent event)
{
	const struct reprise_beside *beside = lane->trace->beside;

	return beside == NULL || beside->behind[lane->cursor] == 0 ||
	       reprise_group_is_behind(lane->group, event);
}

/* True if the call is the op at the cursor of the followed trace, or the visit goes on all the
 * same. Otherwise *why is the reason for the side exit. */
REPRISE_HOT static bool agrees(struct reprise_lane *lane, const struct reprise_call *call,
                               enum reprise_exit *why)
{
	const struct reprise_op *op = &lane->trace->ops[lane->cursor];
	bool kernels = call->kind == REPRISE_OP_KERNEL && op->kind == REPRISE_OP_KERNEL &&
	               call->member == op->member;
	enum reprise_match match = __builtin_expect(kernels, 1)
	                               ? reprise_kernel_match(op, &call->kernel)
	                               : reprise_op_match(op, call);

	if (__builtin_expect(match != REPRISE_MATCH_SAME, 0) &&
	    !reprise_lane_go_on(lane, call, match, why))
		return false;
	if (__builtin_expect(call->kind == REPRISE_OP_WAIT, 0) && !takes_wait(lane, call->event)) {
		*why = REPRISE_EXIT_guard;
		return false;
	}
	return true;
}

/* Prefetches the op that is compared next, while the program works between two calls. */
static inline void fetch(const struct reprise_op *op)
{
	__builtin_prefetch(op);
	__builtin_prefetch((const char *)op + REPRISE_CACHE_LINE);
	__builtin_prefetch(op->payload);
}

/* Most ops are kernel launches that agree with the trace, before the last op of a visit, on a
 * stream without a group. True if the call is one: it is answered, as decide() would. All others
 * are left to decide(). */
static inline bool defers(struct reprise_lane *lane, const struct reprise_call *call)
{
	const struct reprise_trace *trace = lane->trace;
	const struct reprise_op *op;

	if (trace == NULL || lane->group != NULL || call->kind != REPRISE_OP_KERNEL ||
	    lane->cursor + 1 >= trace->count || reprise_verifying || reprise_observing ||
	    (lane->counts.ops + 1) % REPRISE_TUNE_SERIES_TOLD == 0)
		return false;
	op = &trace->ops[lane->cursor];
	if (op->kind != REPRISE_OP_KERNEL ||
	    reprise_kernel_match_here(op, &call->kernel) != REPRISE_MATCH_SAME)
		return false;
	reprise_lane_count(&lane->counts.ops, 1);
	reprise_lane_count(&lane->counts.kinds[REPRISE_OP_KERNEL], 1);
	lane->cursor++;
	fetch(&trace->ops[lane->cursor]);
	return true;
}

/* In observe the call is made all the same, and timed, by the way of the op before the cursor.
 * False: it is not answered. */
static __attribute__((noinline)) bool answer_observed(const struct reprise_lane *lane,
                                                      struct reprise_call *call)
{
	if (reprise_call_is_copy(call))
		call->way = (uint8_t)reprise_op_way(&lane->trace->ops[lane->cursor - 1]);
	return false;
}

/* The call is the op at the cursor. True if it is answered, with *result. */
REPRISE_HOT static bool answer(struct reprise_lane *lane, struct reprise_call *call,
                               CUresult *result)
{
	if (__builtin_expect(reprise_verifying, 0))
		reprise_verify_ask(lane, call);
	if (__builtin_expect(call->kind == REPRISE_OP_RECORD, 0))
		reprise_held_add(&lane->held, call->event);
	else if (__builtin_expect(call->kind == REPRISE_OP_WAIT && lane->trace->beside != NULL, 0))
		reprise_held_add(&lane->held_waits, call->event);
	lane->cursor++;
	*result = CUDA_SUCCESS;
	if (lane->cursor < lane->trace->count) {
		if (lane->cursor == 1)
			reprise_hold_begin(lane);
		fetch(&lane->trace->ops[lane->cursor]);
		return !reprise_observing || answer_observed(lane, call);
	}
	if (!reprise_observing) {
		*result = reprise_lane_replay(lane);
		return true;
	}
	answer_observed(lane, call);
	reprise_lane_replay_observed(lane);
	return false;
}

/* ---- an op that is watched ---- */

static void note_unfit(struct reprise_lane *lane, enum reprise_unfit why, struct reprise_call *call)
{
	reprise_lane_count(&lane->counts.unfit[why], 1);
	call->unfit = (uint8_t)why;
	reprise_lane_close_segment(lane, false);
	reprise_lane_move_to(lane, REPRISE_BEFORE_BARRIER);
	lane->last = NULL;
	lane->expected = NULL;
}

/* The op in the watch's slot, not yet kept. NULL if the call cannot be an op, or there is no
 * memory. */
static struct reprise_op *look_at(struct reprise_lane *lane, struct reprise_call *call)
{
	struct reprise_op examined, *slot;
	enum reprise_unfit unfit = reprise_op_examine(&examined, call, lane->context);

	if (reprise_call_is_copy(call))
		call->way = (uint8_t)reprise_op_way(&examined);
	if (unfit != REPRISE_UNFIT_NONE) {
		note_unfit(lane, unfit, call);
		return NULL;
	}
	reprise_lane_open_segment(lane);
	slot = reprise_watch_slot(lane->watch, &examined);
	if (slot != NULL)
		reprise_op_complete(slot, call);
	return slot;
}

/* ---- deciding ---- */

/* What a lane is watched with takes 420 KiB, so it has that only when calls have come again. */
static bool can_watch(struct reprise_lane *lane)
{
	if (__builtin_expect(lane->watch != NULL && lane->index != NULL, 1))
		return true;
	if (lane->index == NULL)
		lane->index = reprise_store_take(REPRISE_STORE_WATCHED, sizeof(*lane->index));
	if (lane->watch == NULL && lane->index != NULL)
		lane->watch = reprise_watch_new();
	return lane->watch != NULL && lane->index != NULL;
}

/* Where there are traces, they may be entered, and left. */
static bool ready(struct reprise_lane *lane)
{
	if (__builtin_expect(lane->scan == NULL, 0))
		lane->scan = reprise_store_take(REPRISE_STORE_WATCHED, sizeof(*lane->scan));
	if (__builtin_expect(lane->index != NULL ? can_watch(lane) : lane->scan != NULL, 1))
		return true;
	reprise_lane_count(&lane->counts.ops, 1);
	reprise_lane_cannot_watch(lane);
	return false;
}

/* Decides on one op. True if it is answered; otherwise it is an eager call. */
REPRISE_HOT static bool step(struct reprise_lane *lane, struct reprise_call *call, CUresult *result)
{
	enum reprise_exit why = REPRISE_EXIT_guard;
	struct reprise_trace *left = NULL;
	unsigned int left_at = 0;
	struct reprise_op *op;

	reprise_lane_count(&lane->counts.ops, 1);
	reprise_lane_count(&lane->counts.kinds[call->kind], 1);
	if (lane->trace != NULL) {
		if (agrees(lane, call, &why))
			return answer(lane, call, result);
		left = lane->trace;
		left_at = lane->cursor;
		reprise_lane_side_exit(lane, why);
	} else if (reprise_turns_look(lane, call)) {
		return false;
	} else if (lane->expected != NULL && reprise_lane_enter_expected(lane, call)) {
		return answer(lane, call, result);
	}
	if (reprise_lane_backs_off(lane, call)) {
		call->unseen = true;
		return false;
	}
	if (!can_watch(lane)) {
		reprise_lane_cannot_watch(lane);
		return false;
	}
	op = look_at(lane, call);
	if (op == NULL)
		return false;
	if (left != NULL && why == REPRISE_EXIT_values)
		reprise_lane_note_value_miss(lane, left, left_at, op);
	if (reprise_lane_enter_any(lane, op, call))
		return answer(lane, call, result);
	reprise_scan_note(lane->scan, reprise_scan_key(call));
	if (__builtin_expect(call->kind == REPRISE_OP_WAIT, 0))
		op->waits_for =
			reprise_group_event_start(lane->group, reprise_watch_segment(lane->watch), op->event);
	reprise_lane_keep(lane, op,
	                  reprise_clock_since(
						  atomic_load_explicit(&lane->last_return, memory_order_relaxed)));
	return false;
}

/* An event orders streams against each other: outside a group a lane has to issue what it holds. */
static bool is_barrier(const struct reprise_lane *lane, const struct reprise_call *call)
{
	return __builtin_expect(reprise_op_is_event(call->kind), 0) && lane->group == NULL;
}

/* True if the op is answered; otherwise it is an eager call. Under the lane's lock. */
REPRISE_HOT static bool decide(struct reprise_lane *lane, struct reprise_call *call,
                               CUresult *result)
{
	bool answered = false;

	if (is_barrier(lane, call))
		reprise_lane_barrier(lane, false);
	else
		answered = ready(lane) && step(lane, call, result);
	if (__builtin_expect(lane->counts.ops % REPRISE_TUNE_SERIES_TOLD == 0 && reprise_reporting, 0))
		reprise_lane_tell_series(lane);
	return answered;
}

/* ---- eager calls ---- */

/* Without the lane's lock. Its own time is added to `last_return`, so it is not taken for a pause
 * of the program. */
static void note_call_site(struct reprise_lane *lane, const struct reprise_call *call)
{
	uint64_t begin = reprise_clock_ticks();

	reprise_call_site_note(REPRISE_CALL_SITE_unfit, reprise_unfit_names[call->unfit], call->from);
	atomic_fetch_add_explicit(&lane->last_return, reprise_clock_since(begin), memory_order_relaxed);
}

/* The program's own call. `first`: a barrier came before. */
static CUresult eager(struct reprise_lane *lane, const struct reprise_call *call, bool timed,
                      bool first)
{
	uint64_t begin = timed ? reprise_clock_ticks() : 0, end, before;
	CUresult result = reprise_call_eager(call, lane->context);

	end = reprise_clock_ticks();
	before = atomic_load_explicit(&lane->last_return, memory_order_relaxed);
	atomic_store_explicit(&lane->last_return, end, memory_order_relaxed);
	if (reprise_observing)
		reprise_gpu_look(reprise_pause_note(first, reprise_clock_elapsed(before, end)));
	if (timed && result == CUDA_SUCCESS && !reprise_kernels_at_work()) {
		uint64_t took = reprise_clock_elapsed(begin, end);

		reprise_op_cost_note(call->kind, call->way, took);
		reprise_histogram_note(REPRISE_HISTOGRAM_eager, took);
	}
	return result;
}

/* The driver refused it, so no trace may answer for it (invariant 5). */
static void refused(struct reprise_lane *found)
{
	struct reprise_lane *lane = reprise_lane_take(found);

	reprise_lane_drop_segment(lane);
	if (lane->group != NULL && lane->trace == NULL)
		reprise_group_lose_order(lane);
	reprise_lock_give(&lane->lock);
}

/* An eager op of a group. True if the group should be split. */
static bool note_group_eager(struct reprise_lane *lane, const struct reprise_call *call)
{
	reprise_group_issues(lane, call->kind, call->member,
	                     reprise_op_is_event(call->kind) ? call->event : NULL);
	return reprise_group_does_not_pay(lane);
}

/* The op is an eager call. Gives the lane's lock. `first`: the lane was silent before. A function
 * of its own, so that an op that is answered saves no registers for it. */
static __attribute__((noinline)) CUresult call_eagerly(struct reprise_lane *lane,
                                                       struct reprise_lane *found,
                                                       struct reprise_call *call, bool first)
{
	bool timed =
			 lane->counts.ops % REPRISE_TUNE_EAGER_TIMED == 0 || lane->short_at == lane->counts.ops,
		 useless = lane->group != NULL && note_group_eager(lane, call);
	CUresult result;

	reprise_pending_finish(lane, false);
	if (__builtin_expect(call->foreign, 0))
		reprise_lanes_call_begins(found);
	reprise_lock_give(&lane->lock);
	if (__builtin_expect(call->begins_turn, 0))
		reprise_turns_switch(lane);
	if (__builtin_expect(call->unfit != REPRISE_UNFIT_NONE && call->unfit != REPRISE_UNFIT_FIRST &&
	                         reprise_reporting,
	                     0))
		note_call_site(lane, call);

	bool loads = __builtin_expect(call->unseen || call->unfit == REPRISE_UNFIT_FIRST, 0) &&
	             reprise_loading_begins_launch(call, !call->unseen);

	result = eager(lane, call, timed, first);
	if (loads)
		reprise_loading_ends(call->kernel.function, REPRISE_FUNCTION_LAUNCH,
		                     result == CUDA_SUCCESS);
	if (__builtin_expect(call->foreign, 0))
		reprise_lanes_call_ends(found);
	if (result != CUDA_SUCCESS)
		refused(found);
	else if (__builtin_expect(call->unfit == REPRISE_UNFIT_FIRST, 0))
		reprise_function_note(call->kernel.function, lane->context, REPRISE_FUNCTION_LAUNCH);
	else if (__builtin_expect(reprise_op_is_event(call->kind), 0))
		reprise_fork_detect_note(found, call);
	if (useless)
		reprise_group_split(found, true);
	return result;
}

/* Under the lane's lock, which it gives. A function of its own: an op that is deferred saves no
 * registers for it. `first`: the lane was silent before. */
static __attribute__((noinline)) REPRISE_HOT CUresult decide_and_give(struct reprise_lane *lane,
                                                                      struct reprise_lane *found,
                                                                      struct reprise_call *call,
                                                                      bool first)
{
	uint64_t launches = lane->counts.launches;
	bool launched;
	CUresult result = CUDA_SUCCESS;

	if (__builtin_expect(lane->group != NULL, 0))
		reprise_group_track(lane);
	if (!decide(lane, call, &result))
		return call_eagerly(lane, found, call, first);
	launched = lane->counts.launches != launches;
	reprise_lock_give(&lane->lock);
	return __builtin_expect(reprise_verifying, 0) && launched ? reprise_verify_wait(lane) : result;
}

REPRISE_HOT CUresult reprise_lane_handle_op(struct reprise_lane *found, struct reprise_call *call)
{
	struct reprise_lane *lane = take_for_op(&found, call);
	bool first;

	if (__builtin_expect(lane == NULL, 0)) {
		reprise_own_streams_settle(call->stream, call->per_thread);
		return reprise_call_eager(call, NULL);
	}
	first = !atomic_load_explicit(&lane->noisy, memory_order_relaxed);
	note_caller(lane, call);
	reprise_own_streams_settle(lane->stream, false);
	if (!defers(lane, call))
		return decide_and_give(lane, found, call, first);
	reprise_lock_give(&lane->lock);
	return CUDA_SUCCESS;
}
