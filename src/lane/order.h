/*
 * Which lanes have to issue what they hold: what an op comes after, and what a synchronising call
 * may observe.
 *
 * All functions take lanes' locks: the caller holds none.
 */
#pragma once

#include "lane/threads.h"
#include "lane/lane.h"
#include "lane/registry.h"
#include "lane/group/group.h"

/* True if a lane holds deferred ops, a group is tracked, or a thread's own stream does not wait
 * for its proxy yet. */
static inline bool reprise_lanes_hold_anything(void)
{
	return reprise_lanes_hold() || atomic_load(&reprise_groups_tracked) > 0 ||
	       atomic_load(&reprise_unsettled) > 0;
}

/* The rest of reprise_lanes_make_way(). */
void reprise_lanes_issue_before(const struct reprise_lane *lane, bool across);

/* Issues what other lanes hold that comes before an op of `lane`: blocking streams before the
 * legacy stream's ops, with the pending waits of their groups, and the other way round. `is_copy`:
 * a copy on the legacy stream also comes after lanes of other contexts, whose devices it may reach.
 */
static inline void reprise_lanes_make_way(const struct reprise_lane *lane, bool is_copy)
{
	bool across = is_copy && lane->stream == CU_STREAM_LEGACY;

	if (__builtin_expect(across || !reprise_lanes_unordered(lane), 0))
		reprise_lanes_issue_before(lane, across);
}

/* The same for a call on a stream that has no lane in the current context; it may be a copy. */
void reprise_lanes_make_way_for(CUstream stream, bool per_thread);

/* Issues what this thread holds, and the pending waits of its groups. */
void reprise_lanes_issue_own(void);

/* The same, and what other threads hold. The hold thread issues that: the driver may keep the
 * thread that issues. Waits at most 0.1 s for each lane. */
void reprise_lanes_issue_all(void);

/* As reprise_lanes_issue_own(), and what comes before a call on the stream that Reprise does not
 * follow. The order in this thread's groups is not tracked any more. Lanes of other threads that
 * have nothing to do with the call are not touched: the driver may keep the thread that issues. */
void reprise_lanes_eager_call(CUstream stream, bool per_thread);

/* A call on the stream that is no op. `lane` is what reprise_lanes_known() returned for it. Issues
 * what the lane holds, and what the call comes after. `may_work`: the call may be more than a point
 * in the stream's order; it counts as on its way until reprise_lanes_returned(). */
void reprise_lanes_order(struct reprise_lane *lane, CUstream stream, bool per_thread,
                         bool may_work);

/* A barrier on every lane that needs one. Issues the pending waits of all groups. */
void reprise_lanes_barrier(bool wait);

/*
 * Issues what the call may observe, and what this thread holds. Parameters as reprise_sync(). True
 * if the call queries something that has not finished: another thread's ops are deferred for it, or
 * a wait is pending. The hold thread issues those ops: the driver may keep the thread that issues.
 */
bool reprise_lanes_sync(enum reprise_sync what, uintptr_t handle, bool per_thread);

/* How often this thread has begun to wait for a stream or a context. */
extern _Thread_local uint32_t reprise_waits_begun __attribute__((tls_model(REPRISE_TLS_MODEL)));

/* The rest of reprise_lanes_wait_begins(). */
void reprise_lanes_order_by_wait(enum reprise_sync what, uintptr_t handle, bool per_thread);

/* This thread waits now, by the driver; parameters as above. What it waits for is before all that
 * it calls then. */
static inline void reprise_lanes_wait_begins(enum reprise_sync what, uintptr_t handle,
                                             bool per_thread)
{
	if (what != REPRISE_SYNC_STREAM && what != REPRISE_SYNC_CONTEXT)
		return;
	reprise_waits_begun++;
	if (__builtin_expect(atomic_load(&reprise_groups_tracked) != 0, 0))
		reprise_lanes_order_by_wait(what, handle, per_thread);
}

/* A call of this thread's has failed. If it was a wait of which wait_begins() was told, it may not
 * have waited. */
void reprise_lanes_wait_failed(void);

/* The error that such a call returns for ops that were answered with success (errors.h). */
CUresult reprise_lanes_error(enum reprise_sync what, uintptr_t handle, bool per_thread);
