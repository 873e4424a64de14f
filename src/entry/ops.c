/* The doors' calls on streams: ops, and calls that order a stream or wait. Other doors have files
 * of their own: events.c, lifetime.c, shortage.c, captures.c. */
#include "entry/inner.h"

#include "base/inside.h"
#include "base/keep.h"
#include "base/placement.h"
#include "graph/program_captures.h"
#include "op/function.h"
#include "op/op.h"
#include "stats/counters.h"
#include "timeline/timeline.h"
#include "lane/dispatch.h"
#include "lane/eager.h"
#include "lane/errors.h"
#include "lane/group/group.h"
#include "lane/loading.h"
#include "lane/order.h"
#include "process/process.h"
#include "lane/threads.h"
#include "lane/registry.h"
#include "lane/turns.h"

/* ---- ops ---- */

/* An op of an eager turn. True if the turn goes on. */
static bool turn_goes_on(const struct reprise_call *call)
{
	struct reprise_lane *lane = reprise_lanes_find_own(call->stream, call->per_thread);

	if (reprise_call_is_empty(call) && reprise_op_is_nothing(call)) {
		reprise_count(REPRISE_COUNT_empty_ops, 1);
		return true;
	}
	if (lane == NULL) {
		atomic_fetch_add_explicit(&reprise_ops_without_lane, 1, memory_order_relaxed);
		return true;
	}
	return reprise_turns_goes_on(lane, call);
}

/* Reprise takes no part. Counts the op; false if that ends an eager turn, and Reprise takes part
 * again. */
static bool stays_eager(const struct reprise_call *call)
{
	enum reprise_counter counter;

	/* Another thread may have begun a capture or a pause since this thread's last op was
	 * deferred, or have issued it in this thread's place. */
	if (reprise_lanes_hold_anything())
		reprise_lanes_eager_call(call->stream, call->per_thread);
	if (reprise_eager_by_turn())
		return turn_goes_on(call) || !reprise_taking_part();
	counter = reprise_eager_counter();
	if (__builtin_expect(counter == REPRISE_COUNT_unseen_ops, 0))
		reprise_turns_note_unseen();
	else if (counter == REPRISE_COUNT_paused_ops)
		reprise_gate_count(REPRISE_GATE_PAUSED);
	else
		reprise_count(counter, 1);
	return true;
}

/* An op within a range of REPRISE_NVTX_OFF. Other threads go on deferring, so it orders its stream
 * as a call that is no op. */
static CUresult in_range(const struct reprise_call *call)
{
	struct reprise_lane *lane;
	CUresult result;

	reprise_process_prepare();
	reprise_lanes_returned();
	lane = reprise_lanes_known(call->stream, call->per_thread);
	if (reprise_records())
		reprise_recorded_order(lane);
	reprise_lanes_order(lane, call->stream, call->per_thread, true);
	reprise_count(REPRISE_COUNT_nvtx_ops, 1);
	result = reprise_loading_call(call);
	reprise_lanes_returned();
	return result;
}

/* Reprise takes no part. False if that ends with this op. A function of its own, as the next one
 * is, so that an op that is answered saves no registers for it. */
static __attribute__((noinline)) bool handle_eagerly(const struct reprise_call *call,
                                                     CUresult *result)
{
	if (__builtin_expect(reprise_in_range != 0, 0) && reprise_eager_by_range())
		*result = in_range(call);
	else if (stays_eager(call))
		*result = reprise_loading_call(call);
	else
		return false;
	return true;
}

/* The same, and first whether the op passes in an eager turn. */
static __attribute__((noinline)) bool pass_or_handle(const struct reprise_call *call,
                                                     CUresult *result)
{
	return (reprise_eager_by_turn() && !reprise_call_is_empty(call) &&
	        reprise_turns_pass(call, result)) ||
	       handle_eagerly(call, result);
}

REPRISE_HOT static CUresult handle(struct reprise_call *call)
{
	struct reprise_lane *lane;
	CUresult result;

	if (__builtin_expect(!reprise_taking_part(), 0) && pass_or_handle(call, &result))
		return result;
	/* An empty op is no barrier: whatever is deferred may stay so. */
	if (__builtin_expect(reprise_call_is_empty(call), 0) && reprise_op_is_nothing(call)) {
		reprise_count(REPRISE_COUNT_empty_ops, 1);
		return reprise_loading_call(call);
	}
	lane = reprise_lanes_find_own(call->stream, call->per_thread);
	if (lane != NULL && !reprise_records() && reprise_lanes_back_off(lane, call))
		return reprise_loading_call(call);
	if (__builtin_expect(lane == NULL, 0)) {
		reprise_process_prepare(); /* threads start with the first op, whatever it is */
		reprise_lanes_make_way_for(call->stream, call->per_thread);
		atomic_fetch_add_explicit(&reprise_ops_without_lane, 1, memory_order_relaxed);
		return reprise_loading_call(call);
	}
	reprise_process_prepare();
	reprise_lanes_make_way(lane, reprise_call_is_copy(call));
	return reprise_lane_handle_op(lane, call);
}

/* The op is recorded before the call: another thread's later call may return first. */
static __attribute__((noinline)) CUresult handle_recorded(struct reprise_call *call)
{
	CUresult result;

	reprise_recorded_op(call);
	result = handle(call);
	reprise_record_returned(result);
	return result;
}

/* The row of the kernel's name; 0: it is not known. Only of a kernel that this launch has loaded is
 * the driver asked, and only while nothing is captured: a question might end a capture. */
static uint32_t name_row_of(CUfunction function, CUresult result)
{
	struct reprise_function known = {.name = 0};

	if (reprise_inside != 0)
		return 0;
	if (result == CUDA_SUCCESS && !reprise_program_captures_any())
		return reprise_function_of(function).name;
	return reprise_function_known(function, &known) ? known.name : 0;
}

static __attribute__((noinline)) CUresult handle_timed(struct reprise_call *call)
{
	uint64_t begin = reprise_timeline_begin();
	CUresult result;
	struct reprise_timeline_about about = {.lane = REPRISE_TIMELINE_NO_LANE};

	reprise_process_prepare(); /* registers the exit handler, which writes the events */
	result = reprise_records() && reprise_taking_part() ? handle_recorded(call) : handle(call);
	if (call->kind == REPRISE_OP_KERNEL) {
		about.grid = reprise_timeline_grid_of(call->kernel.grid);
		about.graph = name_row_of(call->kernel.function, result);
	}
	reprise_timeline_end(call->kind, begin, about);
	return result;
}

REPRISE_HOT CUresult reprise_handle_op(struct reprise_call *call)
{
	REPRISE_KEEP_ERRNO;

	if (__builtin_expect(atomic_load_explicit(&reprise_timeline_on, memory_order_relaxed), 0))
		return handle_timed(call);
	return reprise_records() && reprise_taking_part() ? handle_recorded(call) : handle(call);
}

/* ---- other calls on a stream ---- */

void reprise_order(CUstream stream, bool per_thread)
{
	REPRISE_KEEP_ERRNO;
	uint64_t begin = reprise_timeline_begin();
	struct reprise_lane *lane;

	if (reprise_inside != 0)
		return;
	reprise_lanes_returned();
	lane = reprise_lanes_known(stream, per_thread);
	if (reprise_records())
		reprise_recorded_order(lane);
	reprise_lanes_order(lane, stream, per_thread, true);
	reprise_timeline_end_call(REPRISE_TIMELINE_ORDER, begin);
}

void reprise_order_ends(void)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside == 0)
		reprise_lanes_returned();
}

static CUresult sync(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	uint64_t begin = reprise_timeline_begin();
	bool pending;

	reprise_lanes_returned();
	reprise_turns_note_wait(what);
	if (reprise_records())
		reprise_recorded_wait(what, handle, per_thread);
	pending = reprise_lanes_sync(what, handle, per_thread);
	reprise_timeline_end_call(REPRISE_TIMELINE_WAIT, begin);
	return pending ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

void reprise_sync(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside == 0)
		sync(what, handle, per_thread);
}

CUresult reprise_wait(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	REPRISE_KEEP_ERRNO;
	CUresult error = CUDA_SUCCESS, pending;

	if (reprise_inside != 0)
		return CUDA_SUCCESS;
	pending = sync(what, handle, per_thread);
	if (__builtin_expect(atomic_load(&reprise_errors_count) != 0, 0))
		error = reprise_lanes_error(what, handle, per_thread);
	if (__builtin_expect(error == CUDA_SUCCESS && pending == CUDA_SUCCESS, 1))
		reprise_lanes_wait_begins(what, handle, per_thread);
	return error != CUDA_SUCCESS ? error : pending;
}

void reprise_issue(void)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside == 0)
		reprise_lanes_barrier(false);
}
