/* The doors of events. In a stream group (lane/group/group.h) an event's record and a wait for it
 * are ops, and traces may name the event. Elsewhere they are barriers. */
#include "entry/inner.h"

#include "base/inside.h"
#include "base/keep.h"
#include "base/ending.h"
#include "op/kernel.h"
#include "stats/sites.h"
#include "timeline/timeline.h"
#include "lane/dispatch.h"
#include "lane/side_exit.h"
#include "lane/eager.h"
#include "lane/ended_events.h"
#include "lane/group/group.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "lane/traces.h"
#include "lane/turns.h"

/* ---- records and waits ---- */

/* True for a wait on a stream that another thread uses: that thread's next ops come after the event
 * too. A record orders nothing after it. */
static bool is_foreign_wait(const struct reprise_lane *lane, const struct reprise_call *call)
{
	return call->kind == REPRISE_OP_WAIT && lane != NULL &&
	       atomic_load_explicit(&lane->thread, memory_order_relaxed) != reprise_thread_self();
}

/* A record or a wait on a stream that is in no group. It is counted as a sign of one. */
static CUresult handle_ungrouped(struct reprise_lane *lane, const struct reprise_call *call)
{
	CUresult result;

	reprise_call_site_note_some(REPRISE_CALL_SITE_orders,
	                            call->kind == REPRISE_OP_RECORD ? "cuEventRecord"
	                                                            : "cuStreamWaitEvent",
	                            call->from);
	if (reprise_records())
		reprise_recorded_order(lane);
	reprise_lanes_order(lane, call->stream, call->per_thread, is_foreign_wait(lane, call));
	reprise_group_event_used(lane, call->event, call->kind == REPRISE_OP_RECORD);
	result = reprise_call_eager(call, lane != NULL && !lane->unusable ? lane->context : NULL);
	reprise_lanes_returned();
	if (result == CUDA_SUCCESS && lane != NULL && reprise_taking_part())
		reprise_fork_detect_note(lane, call);
	return result;
}

/* A call that is an op of a group. It counts as an op of an eager turn, too, since it may be the
 * anchor. True if the turn ends with it, and Reprise takes part again. */
static bool ends_turn(struct reprise_lane *lane, const struct reprise_call *call)
{
	return reprise_eager_by_turn() && !reprise_turns_goes_on(lane, call) && reprise_taking_part();
}

/* True unless the stream is known to be in no group. */
static bool may_be_in_group(const struct reprise_call *call)
{
	const struct reprise_lane *lane;

	if (atomic_load(&reprise_groups) == 0)
		return false;
	lane = reprise_lanes_remembered(call->stream, call->per_thread);
	return lane == NULL || atomic_load(&lane->group_head) != NULL;
}

/* True if the call is eager whatever its lane does, and orders nothing that Reprise has. In an
 * eager turn that is looked at, a group's may be the anchor. */
static bool orders_nothing(const struct reprise_call *call)
{
	uint32_t pauses = atomic_load_explicit(&reprise_pauses, memory_order_acquire);

	return pauses != 0 && !reprise_records() && !reprise_lanes_hold_anything() &&
	       (pauses != REPRISE_PAUSE_TURN || !may_be_in_group(call));
}

/* In a pause or in an eager turn. True if the call was made; *result: the driver's answer. */
static bool pass(const struct reprise_call *call, CUresult *result)
{
	if (!orders_nothing(call))
		return reprise_eager_by_turn() && reprise_turns_pass(call, result);
	*result = reprise_call_eager(call, NULL);
	return true;
}

static CUresult handle_event(struct reprise_call *call)
{
	struct reprise_lane *lane;
	CUresult result;

	reprise_lanes_returned();
	if (__builtin_expect(reprise_all_are_eager(), 0) && pass(call, &result))
		return result;
	lane = reprise_lanes_known(call->stream, call->per_thread);
	if (lane == NULL || atomic_load(&lane->group_head) == NULL ||
	    (!reprise_taking_part() && !ends_turn(lane, call)))
		return handle_ungrouped(lane, call);
	reprise_lanes_make_way(lane, false);
	reprise_group_event_used(lane, call->event, call->kind == REPRISE_OP_RECORD);
	return reprise_lane_handle_op(lane, call);
}

CUresult reprise_handle_event(struct reprise_call *call)
{
	REPRISE_KEEP_ERRNO;
	uint64_t begin = reprise_timeline_begin();
	CUresult result;

	if (reprise_inside != 0)
		return call->eager(call);
	result = handle_event(call);
	reprise_timeline_end_call(call->kind, begin);
	return result;
}

void reprise_event_met(CUevent event, bool recorded)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside == 0)
		reprise_group_event_used(NULL, event, recorded);
}

/* ---- calls that end or share an event ---- */

static void split(struct reprise_lane *lane, void *unused)
{
	reprise_group_split(lane, false);
}

/* A lane that only watches ops gets a barrier, but only if too many ended events wait: its thread
 * may be idle for long. */
static void forget_if_free(struct reprise_lane *lane, void *unused)
{
	if (!reprise_ended_any(lane) || !reprise_lock_try(&lane->lock))
		return;
	if (lane->trace == NULL && !lane->watching)
		reprise_ended_forget(lane);
	else if (reprise_ended_many(lane) && atomic_load(&lane->deferred_since) == 0)
		reprise_lane_barrier(lane, false);
	reprise_lock_give(&lane->lock);
}

/* True if a lane may still name the event: Reprise destroys it later. */
static bool is_kept(CUevent event, CUresult *result)
{
	struct reprise_ended *noted;

	if (!reprise_ended_note(event, result, &noted))
		return false;
	if (noted == NULL)
		return true;
	reprise_lanes_each(forget_if_free, NULL);
	return reprise_ended_is_kept(noted);
}

CUresult reprise_event_destroy(CUevent event, CUresult (*destroy)(CUevent event))
{
	REPRISE_KEEP_ERRNO;
	CUresult result;

	if (reprise_inside != 0)
		return destroy(event);
	if (atomic_load(&reprise_attention) > 0)
		reprise_sync(REPRISE_SYNC_EVENT_END, (uintptr_t)event, false);
	if (atomic_load(&reprise_groups) > 0 && is_kept(event, &result))
		return result;
	return destroy(event);
}

void reprise_events_shared(void)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside != 0)
		return;
	reprise_sync(REPRISE_SYNC_ALL, 0, false);
	reprise_group_never();
	reprise_lanes_each(split, NULL);
}

void reprise_meet_attributes(const CUlaunchConfig *config)
{
	REPRISE_KEEP_ERRNO;

	if (atomic_load(&reprise_groups) > 0 && !reprise_kernel_knows_attributes(config))
		reprise_group_event_used(NULL, NULL, true);
}
