/*
 * What the doors ask, said to the lanes. Here is decided whether Reprise takes part at all: not while the program captures, not after
 * an error that ruins the context, not while the process ends.
 */
#include "doors.h"

#include <limits.h>
#include <sched.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/inside.h"
#include "../base/log.h"
#include "../driver/driver.h"
#include "../graph/captures.h"
#include "../op/kernel.h"
#include "../record/record.h"
#include "../report/counters.h"
#include "../timeline/timeline.h"
#include "joint.h"
#include "meeting.h"
#include "order.h"
#include "process.h"
#include "registry.h"
#include "thread.h"

#define SETTLE_NS 2000000000u /* a kernel that waits for the thread which wants memory would never end */

/* Set for good by reprise_stop(). */
static _Atomic(const char *) stopped;

static _Atomic uint32_t pauses; /* under way */

static bool taking_part(void)
{
	return reprise_inside == 0 && !reprise_captures_any() &&
	       atomic_load_explicit(&pauses, memory_order_acquire) == 0 &&
	       atomic_load_explicit(&stopped, memory_order_relaxed) == NULL;
}

static bool recording(void)
{
	return __builtin_expect(atomic_load_explicit(&reprise_recording, memory_order_relaxed), 0);
}

/* Whatever is still to be issued, or owed. */
static void issue_all(void)
{
	if (reprise_lanes_hold() || atomic_load(&reprise_joint_debtors) > 0)
		reprise_lanes_barrier(false);
}

/* What an op is counted as while Reprise takes no part. */
static enum reprise_counter why_not(void)
{
	return reprise_stopped() != NULL     ? REPRISE_COUNT_passed_stopped :
	       atomic_load(&pauses) > 0      ? REPRISE_COUNT_paused_ops :
	                                       REPRISE_COUNT_passed_capturing;
}

static CUresult submit(struct reprise_call *call)
{
	struct reprise_lane *lane;

	if (!recording() && reprise_lanes_asleep(call->stream, call->per_thread))
		return reprise_call_pass(call);
	if (__builtin_expect(!taking_part(), 0)) {
		/* Another thread's capture, or a pause, may have begun since this one's last op was deferred. */
		issue_all();
		if (call->stream > CU_STREAM_PER_THREAD)
			reprise_lanes_lose_order(call->stream);
		reprise_count(why_not(), 1);
		return reprise_call_pass(call);
	}
	lane = reprise_lanes_find(call->stream, call->per_thread);
	if (__builtin_expect(lane == NULL, 0)) {
		reprise_lanes_make_way_for(call->stream, call->per_thread);
		reprise_process_count_unlaned();
		return reprise_call_pass(call);
	}
	reprise_process_prepare();
	reprise_lanes_make_way(lane, reprise_call_is_copy(call));
	return reprise_lane_submit(lane, call);
}

/* ---- recording ---- */

/* The op is recorded first: its parameters are the program's until the call returns, and the call may not return before another thread's. */
static CUresult submit_recorded(struct reprise_call *call)
{
	const struct reprise_lane *lane = reprise_lanes_find(call->stream, call->per_thread);
	struct reprise_record_lane described = {0};
	CUresult result;

	if (lane != NULL && lane->owner != 0)
		lane = NULL; /* recorded as on no lane */
	if (lane != NULL)
		described = (struct reprise_record_lane){lane->number, lane->stream == CU_STREAM_LEGACY, lane->blocking, (uintptr_t)lane->context};
	reprise_process_prepare(); /* at exit, what was recorded is written */
	reprise_record_op(lane != NULL ? &described : NULL, call);
	result = submit(call);
	reprise_record_returned(result);
	return result;
}

static void record_barrier(enum reprise_record_kind kind, const struct reprise_lane *lane)
{
	if (recording())
		reprise_record_barrier(kind, lane != NULL && lane->owner == 0 ? lane->number : REPRISE_LANE_NONE);
}

static const struct reprise_lane *lane_to_record(CUstream stream, bool per_thread)
{
	return recording() ? reprise_lanes_known(stream, per_thread) : NULL;
}

static void record_lifetime(enum reprise_lifetime what, uintptr_t handle)
{
	static const enum reprise_record_kind kinds[] = {
		[REPRISE_LIFETIME_CODE] = REPRISE_RECORD_CODE,
		[REPRISE_LIFETIME_FUNCTION] = REPRISE_RECORD_FUNCTION,
		[REPRISE_LIFETIME_MEMORY] = REPRISE_RECORD_MEMORY,
		[REPRISE_LIFETIME_ATTRIBUTES] = REPRISE_RECORD_ATTRIBUTES,
		[REPRISE_LIFETIME_STREAM] = REPRISE_RECORD_STREAM,
		[REPRISE_LIFETIME_CONTEXT] = REPRISE_RECORD_CONTEXT,
	};
	bool of_stream = what == REPRISE_LIFETIME_ATTRIBUTES || what == REPRISE_LIFETIME_STREAM;

	record_barrier(kinds[what], of_stream ? lane_to_record((CUstream)handle, false) : NULL);
}

/* ---- the timeline ---- */

static bool timed(void)
{
	return __builtin_expect(atomic_load_explicit(&reprise_timeline_on, memory_order_relaxed), 0);
}

static void note(enum reprise_timeline_kind kind, uint64_t begin)
{
	reprise_timeline_end(kind, begin, (struct reprise_timeline_about){.lane = REPRISE_TIMELINE_NO_LANE});
}

static CUresult submit_timed(struct reprise_call *call)
{
	uint64_t begin = reprise_timeline_begin();
	CUresult result;

	reprise_process_prepare(); /* at exit, what was noted is written */
	result = recording() && taking_part() ? submit_recorded(call) : submit(call);
	reprise_timeline_end(call->kind, begin, (struct reprise_timeline_about){.lane = REPRISE_TIMELINE_NO_LANE});
	return result;
}

/* ---- what the doors ask ---- */

CUresult reprise_submit(struct reprise_call *call)
{
	if (timed())
		return submit_timed(call);
	return recording() && taking_part() ? submit_recorded(call) : submit(call);
}

/* A call on the stream that is no op. `lane`: as reprise_lanes_known() knows it. */
static void order(struct reprise_lane *lane, CUstream stream, bool per_thread)
{
	struct reprise_lane *taken;

	if (recording() && reprise_lanes_have_news())
		record_barrier(REPRISE_RECORD_ORDER, lane);
	if (lane == NULL || lane->unusable) {
		reprise_lanes_make_way_for(stream, per_thread);
		return;
	}
	reprise_lanes_make_way(lane, true); /* it may be a copy from device to device */
	if (atomic_load(&lane->joined) == NULL) {
		reprise_lane_tell(lane, false);
		return;
	}
	taken = reprise_lane_take(lane);
	reprise_lane_barrier(taken, false);
	if (taken->joint != NULL)
		reprise_joint_strange(taken, lane->member);
	reprise_lock_give(&taken->lock);
}

/* ---- events ---- */

static bool names(struct reprise_lane *lane, CUevent event)
{
	bool named;

	reprise_lock_take(&lane->lock);
	named = reprise_lane_names(lane, event);
	if (lane->joint != NULL)
		reprise_joint_forget_event(lane->joint, event);
	reprise_lock_give(&lane->lock);
	return named;
}

/* The handle may come back as another event's. */
static void forget_event(struct reprise_lane *lane, void *context)
{
	CUevent event = *(const CUevent *)context;

	if (!reprise_lane_is_joint(lane) || !names(lane, event))
		return;
	reprise_graph_building_pause();
	reprise_lock_take(&lane->lock);
	reprise_lane_barrier(lane, false);
	reprise_lane_forget_event(lane, event);
	reprise_lock_give(&lane->lock);
	reprise_graph_building_resume();
}

static void part(struct reprise_lane *lane, void *unused)
{
	reprise_joint_part(lane, false);
}

void reprise_order(CUstream stream, bool per_thread)
{
	uint64_t begin = reprise_timeline_begin();
	struct reprise_lane *lane;

	if (reprise_inside != 0)
		return;
	lane = reprise_lanes_known(stream, per_thread);
	order(lane, stream, per_thread);
	reprise_lanes_meet_events(lane, NULL, true); /* a graph of the program's may have nodes of them */
	note(REPRISE_TIMELINE_ORDER, begin);
}

/* An event's record or wait where its stream's lane is not a joint one. Afterwards it may be. */
static CUresult submit_alone(struct reprise_lane *lane, const struct reprise_call *call)
{
	CUresult result;

	order(lane, call->stream, call->per_thread);
	reprise_lanes_meet_events(lane, call->event, call->kind == REPRISE_OP_RECORD);
	result = reprise_call_pass(call);
	if (result == CUDA_SUCCESS && lane != NULL && taking_part())
		reprise_meeting_note(lane, call);
	return result;
}

static CUresult submit_event(struct reprise_call *call)
{
	struct reprise_lane *lane = reprise_lanes_known(call->stream, call->per_thread);

	if (lane == NULL || !taking_part() || atomic_load(&lane->joined) == NULL)
		return submit_alone(lane, call);
	reprise_lanes_make_way(lane, false);
	reprise_lanes_meet_events(lane, call->event, call->kind == REPRISE_OP_RECORD);
	return reprise_lane_submit(lane, call);
}

CUresult reprise_submit_event(struct reprise_call *call)
{
	uint64_t begin = reprise_timeline_begin();
	CUresult result;

	if (reprise_inside != 0)
		return call->pass(call);
	result = submit_event(call);
	note((enum reprise_timeline_kind)call->kind, begin);
	return result;
}

void reprise_event_destroyed(CUevent event)
{
	if (reprise_inside != 0)
		return;
	if (atomic_load(&reprise_attention) > 0)
		reprise_sync(REPRISE_SYNC_EVENT, 0, false);
	if (atomic_load(&reprise_joint_lanes) > 0)
		reprise_lanes_each(forget_event, &event);
}

void reprise_events_shared(void)
{
	if (reprise_inside != 0)
		return;
	reprise_sync(REPRISE_SYNC_ALL, 0, false);
	reprise_joint_never();
	reprise_lanes_each(part, NULL);
}

void reprise_meet_attributes(const CUlaunchConfig *config)
{
	if (atomic_load(&reprise_joint_lanes) > 0 && !reprise_kernel_knows_attributes(config))
		reprise_lanes_meet_events(NULL, NULL, true);
}

void reprise_sync(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	uint64_t begin = reprise_timeline_begin();

	if (reprise_inside != 0)
		return;
	if (recording() && reprise_lanes_have_news())
		record_barrier(REPRISE_RECORD_WAIT, what == REPRISE_SYNC_STREAM ? lane_to_record((CUstream)handle, per_thread) : NULL);
	reprise_lanes_sync(what, handle, per_thread);
	note(REPRISE_TIMELINE_WAIT, begin);
}

/* ---- lifetimes ---- */

struct forgetting {
	CUfunction function;  /* NULL: all traces */
	CUstream stream;      /* only this stream's lane, if `one_stream` */
	bool one_stream;
	CUcontext context;    /* only this context's lanes; NULL: all */
	bool gone;            /* the contexts go, with all that is in them */
	bool retire;          /* the lanes go too */
};

static void forget(struct reprise_lane *lane, void *context)
{
	const struct forgetting *what = context;

	if (atomic_load(&lane->retired) || (what->one_stream && lane->stream != what->stream) ||
	    (what->context != NULL && lane->context != what->context))
		return;
	if (what->one_stream || what->retire)
		reprise_joint_part_paused(lane, what->gone, false);
	reprise_lock_take(&lane->lock);
	reprise_lane_barrier(lane, false);
	reprise_lane_forget(lane, what->function, what->gone);
	if (what->retire || what->one_stream)
		reprise_lane_close(lane, what->gone);
	reprise_lock_give(&lane->lock);
	if (what->retire)
		reprise_lanes_retire(lane);
}

/* The capture of that stream or, with a context, all of its captures. */
static void capture_ended(CUstream stream, CUcontext context)
{
	if (!reprise_captures_any())
		return;
	reprise_lanes_lose_order(NULL); /* of what came meanwhile nobody has taken note */
	reprise_captures_end(stream, context);
}

static void end_lifetime(enum reprise_lifetime what, uintptr_t handle)
{
	struct forgetting forgetting = {0};

	reprise_count(REPRISE_COUNT_lifetimes, 1);
	record_lifetime(what, handle);
	reprise_lanes_barrier(true);
	switch (what) {
	case REPRISE_LIFETIME_MEMORY:
		reprise_memory_forget();
		return;
	case REPRISE_LIFETIME_FUNCTION:
		forgetting.function = (CUfunction)handle;
		break;
	case REPRISE_LIFETIME_STREAM:
		capture_ended((CUstream)handle, NULL);
		/* fall through */
	case REPRISE_LIFETIME_ATTRIBUTES:
		if ((CUstream)handle == CU_STREAM_PER_THREAD)
			reprise_threads_leave_alone();
		forgetting.one_stream = true;
		forgetting.retire = handle > (uintptr_t)CU_STREAM_PER_THREAD;
		forgetting.stream = handle == 0 ? CU_STREAM_LEGACY : (CUstream)handle;
		break;
	case REPRISE_LIFETIME_CONTEXT:
		forgetting.context = (CUcontext)handle;
		forgetting.gone = true;
		forgetting.retire = true;
		if (handle != 0)
			capture_ended(NULL, (CUcontext)handle);
		break;
	default:
		break;
	}
	reprise_graph_building_pause();
	if (what == REPRISE_LIFETIME_CODE || what == REPRISE_LIFETIME_CONTEXT)
		reprise_functions_forget();
	if (what == REPRISE_LIFETIME_CONTEXT) {
		reprise_memory_forget();
		reprise_graveyard_forget((CUcontext)handle);
		reprise_joint_forget_spares((CUcontext)handle);
	}
	reprise_lanes_each(forget, &forgetting);
	reprise_graph_building_resume();
}

void reprise_lifetime(enum reprise_lifetime what, uintptr_t handle)
{
	uint64_t begin = reprise_timeline_begin();

	if (reprise_inside != 0)
		return;
	end_lifetime(what, handle);
	note(REPRISE_TIMELINE_LIFETIME, begin);
}

/* ---- memory ---- */

/* Waits until what the lane's stream has been given is done: a graph that still runs is freed only then. */
static void settle(struct reprise_lane *lane, void *deadline)
{
	if (atomic_load(&lane->retired) || lane->unusable || lane->owner != 0) /* a thread's own stream is asked by that thread alone */
		return;
	reprise_driver.cuCtxSetCurrent(lane->context);
	while (reprise_driver.cuStreamQuery(lane->stream) == CUDA_ERROR_NOT_READY && reprise_clock_ns() < *(const uint64_t *)deadline)
		sched_yield();
}

/* Gives up every graph; returns how many there were. */
static unsigned int give_up_graphs(void)
{
	struct forgetting all = {0};
	unsigned int destroyed;

	reprise_graph_building_pause();
	reprise_lanes_each(forget, &all);
	reprise_inside++;
	destroyed = reprise_graveyard_sweep(UINT_MAX);
	reprise_inside--;
	reprise_graph_building_resume();
	return destroyed;
}

bool reprise_make_room(unsigned int tried)
{
	static _Thread_local unsigned int destroyed __attribute__((tls_model(REPRISE_TLS_MODEL)));
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	uint64_t deadline = reprise_clock_ns() + SETTLE_NS;
	CUcontext current = NULL;

	/* To ask a stream that captures how far it is would end the capture. */
	if (reprise_inside != 0 || reprise_dry || tried > 1 || (tried == 1 && (destroyed == 0 || reprise_captures_any())))
		return false;
	reprise_driver.cuCtxGetCurrent(&current);
	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	if (tried == 0)
		destroyed = give_up_graphs();
	else
		reprise_lanes_each(settle, &deadline);
	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	reprise_driver.cuCtxSetCurrent(current);
	reprise_count(REPRISE_COUNT_rooms_made, tried == 0 && destroyed > 0);
	return true;
}

/* ---- the public API ---- */

void reprise_issue(void)
{
	if (reprise_inside == 0)
		reprise_lanes_barrier(false);
}

void reprise_pause_begin(void)
{
	atomic_fetch_add(&pauses, 1);
	reprise_issue();
}

void reprise_pause_end(void)
{
	uint32_t under_way = atomic_load(&pauses);

	while (under_way > 0 && !atomic_compare_exchange_weak(&pauses, &under_way, under_way - 1))
		continue;
}

/* ---- the program's own captures ---- */

void reprise_capture_begin(CUstream stream)
{
	CUcontext context = NULL;
	bool noted;

	if (reprise_inside != 0)
		return;
	reprise_driver.cuStreamGetCtx(stream, &context);
	reprise_count(REPRISE_COUNT_program_captures, 1);
	noted = reprise_captures_begin(stream, context);
	record_barrier(REPRISE_RECORD_CAPTURE, NULL);
	reprise_lanes_barrier(false);
	reprise_lanes_lose_order(NULL);
	if (!noted)
		reprise_stop("too many captures at once");
}

void reprise_capture_end(CUstream stream)
{
	if (reprise_inside == 0)
		capture_ended(stream, NULL);
}

/* ---- errors and the end ---- */

/* Errors after which CUDA says that the process must be ended, or the context destroyed, to use it again. */
static bool ruins_context(CUresult result)
{
	switch (result) {
	case CUDA_ERROR_ECC_UNCORRECTABLE:
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_CONTEXT_IS_DESTROYED:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_EXTERNAL_DEVICE:
	case CUDA_ERROR_DEINITIALIZED:
	case CUDA_ERROR_UNKNOWN:
		return true;
	default:
		return false;
	}
}

void reprise_observe_result(CUresult result)
{
	if (reprise_inside == 0 && ruins_context(result))
		reprise_stop("the driver reported an error that ruins the context");
}

static bool stop(const char *reason)
{
	const char *none = NULL;

	if (!atomic_compare_exchange_strong(&stopped, &none, reason))
		return false;
	reprise_log(REPRISE_LOG_INFO, "stopped: %s", reason);
	return true;
}

void reprise_stop(const char *reason)
{
	if (stop(reason) && reprise_inside == 0)
		reprise_lanes_barrier(false);
}

void reprise_stop_at_exit(uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	stop("the process ends");
	while (reprise_inside == 0 && reprise_lanes_hold() && reprise_clock_ns() < end) {
		struct timespec pause = {.tv_nsec = 10000};

		nanosleep(&pause, NULL);
	}
}

const char *reprise_stopped(void)
{
	return atomic_load(&stopped);
}

void reprise_doors_reset(void)
{
	atomic_store(&stopped, NULL);
	atomic_store(&reprise_attention, 0);
}
