#include "lane/turns.h"

#include "base/clock.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "op/cost.h"
#include "graph/build_queue.h"
#include "graph/building.h"
#include "lane/behind.h"
#include "lane/eager.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "stats/counters.h"

bool reprise_turns_on REPRISE_HOT_DATA;
static uint64_t started_ns;

/* Ops of eager turns are counted without the lock. */
static uint64_t passed_in(const struct reprise_lane *lane)
{
	return __atomic_load_n(&lane->counts.in_turns, __ATOMIC_RELAXED);
}

static uint64_t ops_of(const struct reprise_lane *lane)
{
	return __atomic_load_n(&lane->counts.ops, __ATOMIC_RELAXED) + passed_in(lane);
}

/* ---- the replaying arm ---- */

bool reprise_turns_visit(struct reprise_lane *lane, struct reprise_call *call)
{
	reprise_lane_place(lane);
	call->begins_turn =
		reprise_anchor_look(lane, call, ops_of(lane), REPRISE_ARM_REPLAY) == REPRISE_ARM_EAGER;
	call->unseen = call->begins_turn;
	return call->begins_turn;
}

void reprise_turns_switch(struct reprise_lane *lane)
{
	reprise_eager_turn_begin();
	reprise_anchor_turn_begun();
	atomic_store_explicit(&lane->noisy, true, memory_order_relaxed); /* this op is its news */
}

/* ---- the eager arm ---- */

static void end_turn(void)
{
	reprise_eager_turn_end();
	if (reprise_build_queue_unfinished() > 0)
		reprise_worker_call(&reprise_builder);
}

/* Counts the op, and notes that the lane has news: it is told of the next wait. Without the lock,
 * so of two threads' counts one may be lost. */
static void pass(struct reprise_lane *lane, uint64_t passed)
{
	__atomic_store_n(&lane->counts.in_turns, passed + 1, __ATOMIC_RELAXED);
	if (!atomic_load_explicit(&lane->noisy, memory_order_relaxed))
		atomic_store_explicit(&lane->noisy, true, memory_order_relaxed);
}

/* Apart, so that a call that is not timed saves no registers for it. */
static __attribute__((noinline)) CUresult call_timed(const struct reprise_call *call)
{
	uint64_t begin = reprise_clock_ticks();
	CUresult result = reprise_call_eager(call, NULL);

	if (result == CUDA_SUCCESS)
		reprise_op_cost_note_in_turn(call->kind, reprise_clock_since(begin));
	return result;
}

/* True if an op of the stream is no anchor: it is counted. `call`: NULL: any. *passed: the ops of
 * the lane's eager turns before it. */
static inline bool passes(CUstream stream, bool per_thread, const struct reprise_call *call,
                          uint64_t *passed)
{
	struct reprise_lane *lane = reprise_lanes_remembered(stream, per_thread), *head;

	if (lane == NULL || lane->unusable)
		return false;
	head = atomic_load(&lane->group_head);
	if (__builtin_expect(head != NULL, 0))
		lane = head;
	if (!atomic_load_explicit(&lane->attended, memory_order_relaxed))
		return false;
	*passed = passed_in(lane);
	if (*passed % REPRISE_TUNE_ANCHOR_LOOKED_AFTER == 0 ||
	    (call == NULL && *passed % REPRISE_TUNE_EAGER_TIMED == 0) ||
	    !reprise_anchor_passes(lane, call, ops_of(lane) + 1))
		return false;
	pass(lane, *passed);
	if (__builtin_expect(head == NULL, 1))
		reprise_behind_before_eager(lane, ops_of(lane));
	return true;
}

REPRISE_HOT bool reprise_turns_pass(const struct reprise_call *call, CUresult *result)
{
	uint64_t passed;

	if (reprise_lanes_hold_anything() || !passes(call->stream, call->per_thread, call, &passed))
		return false;
	*result =
		passed % REPRISE_TUNE_EAGER_TIMED == 0 ? call_timed(call) : reprise_call_eager(call, NULL);
	return true;
}

REPRISE_HOT bool reprise_turns_pass_launch(CUstream stream, bool per_thread)
{
	uint64_t passed;

	return passes(stream, per_thread, NULL, &passed);
}

bool reprise_turns_goes_on(struct reprise_lane *found, const struct reprise_call *call)
{
	struct reprise_lane *lane = reprise_lane_take(found);
	enum reprise_arm arm = REPRISE_ARM_EAGER;
	bool looked_after;

	if (__builtin_expect(reprise_lanes_moved(), 0)) {
		reprise_lock_give(&lane->lock);
		return true;
	}
	arm = reprise_anchor_look(lane, call, ops_of(lane) + 1, arm);
	looked_after = passed_in(lane) % REPRISE_TUNE_ANCHOR_LOOKED_AFTER == 0;
	if (looked_after && reprise_reporting)
		reprise_lane_tell_series(lane);
	if (looked_after && arm == REPRISE_ARM_EAGER)
		arm = reprise_anchor_look_after(lane);
	if (arm == REPRISE_ARM_EAGER) {
		reprise_lane_attend(lane);
		pass(lane, passed_in(lane));
	}
	reprise_lock_give(&lane->lock);
	if (arm == REPRISE_ARM_REPLAY)
		end_turn();
	return arm == REPRISE_ARM_EAGER;
}

REPRISE_HOT void reprise_turns_note_unseen(void)
{
	if (reprise_eager_unseen_ends())
		reprise_anchor_interrupt();
}

/* ---- the process ---- */

void reprise_turns_start(void)
{
	reprise_turns_on = true;
	started_ns = reprise_clock_ns();
}

const struct reprise_lane *reprise_turns_lane(void)
{
	return reprise_anchor_lane();
}

struct reprise_turns_told reprise_turns_read(void)
{
	struct reprise_turns_told told = {.on = reprise_turns_on};

	if (!told.on)
		return told;
	told.measuring = reprise_anchor_read(&told.result);
	told.since_ns = reprise_clock_ns() - started_ns;
	return told;
}

void reprise_turns_reset(void)
{
	reprise_anchor_reset();
	started_ns = reprise_clock_ns();
}
