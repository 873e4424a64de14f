/*
 * The doors of events. Where streams fork and join again and again, an event's record and a wait
 * for it are ops of their joint lane (joint.h), and traces may name the event; elsewhere they are
 * barriers.
 */
#include "entry/entry.h"

#include "base/inside.h"
#include "base/keep.h"
#include "base/ending.h"
#include "op/kernel.h"
#include "timeline/timeline.h"
#include "lane/dispatch.h"
#include "lane/barrier.h"
#include "lane/eager.h"
#include "lane/ended_events.h"
#include "lane/group/group.h"
#include "lane/group/detect.h"
#include "lane/order.h"
#include "entry/recorded.h"
#include "lane/registry.h"
#include "lane/traces.h"

/* ---- records and waits ---- */

/* What comes next on a stream that other threads use is behind the event, too. A record orders
 * nothing behind it. */
static bool is_foreign_wait(const struct reprise_lane *lane, const struct reprise_call *call)
{
	return call->kind == REPRISE_OP_WAIT && lane != NULL &&
	       atomic_load_explicit(&lane->thread, memory_order_relaxed) != reprise_thread_self();
}

/* An event's record or wait where its stream's lane is not a joint one. Afterwards it may be. */
static CUresult submit_alone(struct reprise_lane *lane, const struct reprise_call *call)
{
	CUresult result;

	if (reprise_records())
		reprise_recorded_order(lane);
	reprise_lanes_order(lane, call->stream, call->per_thread, is_foreign_wait(lane, call));
	reprise_lanes_event_used(lane, call->event, call->kind == REPRISE_OP_RECORD);
	result = reprise_call_eager(call, lane != NULL && !lane->unusable ? lane->context : NULL);
	reprise_lanes_returned();
	if (result == CUDA_SUCCESS && lane != NULL && reprise_taking_part())
		reprise_fork_detect_note(lane, call);
	return result;
}

static CUresult submit_event(struct reprise_call *call)
{
	struct reprise_lane *lane;

	reprise_lanes_returned();
	lane = reprise_lanes_known(call->stream, call->per_thread);
	if (lane == NULL || !reprise_taking_part() || atomic_load(&lane->joined) == NULL)
		return submit_alone(lane, call);
	reprise_lanes_make_way(lane, false);
	reprise_lanes_event_used(lane, call->event, call->kind == REPRISE_OP_RECORD);
	return reprise_lane_handle_op(lane, call);
}

CUresult reprise_handle_event(struct reprise_call *call)
{
	REPRISE_KEEP_ERRNO;
	uint64_t begin = reprise_timeline_begin();
	CUresult result;

	if (reprise_inside != 0)
		return call->pass(call);
	result = submit_event(call);
	reprise_timeline_end_call(call->kind, begin);
	return result;
}

void reprise_event_met(CUevent event, bool recorded)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside == 0)
		reprise_lanes_event_used(NULL, event, recorded);
}

/* ---- what ends an event, or lets others record it ---- */

static void part(struct reprise_lane *lane, void *unused)
{
	reprise_group_split(lane, false);
}

/* What is only watched there is cut where else they would become too many: its thread may be idle
 * for long. */
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

/* Whether a lane may still name the event, which is destroyed later then. */
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
	reprise_lanes_each(part, NULL);
}

void reprise_meet_attributes(const CUlaunchConfig *config)
{
	REPRISE_KEEP_ERRNO;

	if (atomic_load(&reprise_groups) > 0 && !reprise_kernel_knows_attributes(config))
		reprise_lanes_event_used(NULL, NULL, true);
}
