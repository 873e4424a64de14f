/* Functions that go through all lanes read only the seldom-written fields of most of them (lane.h),
 * so that threads with lanes of their own share no written cache lines. Of a lane that is concerned
 * they also read whether there is anything to issue. */
#include "lane/order.h"

#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/ending.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "lane/side_exit.h"
#include "lane/threads.h"
#include "lane/errors.h"
#include "lane/hold.h"
#include "lane/own_stream.h"
#include "lane/group/group.h"
#include "lane/registry.h"

/* A point in the order of a stream. */
struct point {
	CUstream stream;   /* resolved */
	uint32_t owner;    /* of a thread's own stream: the thread; else 0 */
	CUcontext context; /* matters for a default stream; other handles are one context's */
	bool blocking;
};

static bool is_of_stream(const struct reprise_lane *lane, const struct point *point)
{
	return lane->stream == point->stream &&
	       (point->stream != CU_STREAM_PER_THREAD ||
	        (lane->owner == point->owner && lane->context == point->context));
}

/* True if what the lane holds comes before the point. */
static bool precedes(const struct reprise_lane *lane, const struct point *point)
{
	if (point->stream == CU_STREAM_LEGACY)
		return lane->blocking && lane->context == point->context;
	return is_of_stream(lane, point) || (point->blocking && lane->stream == CU_STREAM_LEGACY);
}

static struct point point_of(CUstream stream, bool per_thread)
{
	const struct reprise_lane *lane = reprise_lanes_known(stream, per_thread);
	struct point point = {.stream = reprise_stream_resolve(stream, per_thread),
	                      .blocking = lane == NULL || lane->blocking};

	point.owner = point.stream == CU_STREAM_PER_THREAD ? reprise_thread_self() : 0;
	if (lane != NULL)
		point.context = lane->context; /* it was looked up in the current one */
	else
		reprise_driver_current(&point.context);
	return point;
}

/* ---- what an op comes after ---- */

/* A pending wait that is issued behind work on the legacy stream makes its own stream wait for that
 * work, and with it a host that waits for the stream. So it is issued before. It stays pending if
 * the lane's lock is not free in time: the driver may keep the thread that holds it. */
static void issue_pending_waits(struct reprise_lane *lane)
{
	if (__builtin_expect(atomic_load(&reprise_groups_waiting) == 0, 1) ||
	    !reprise_lane_is_group(lane) ||
	    !reprise_lock_take_within(&lane->lock, REPRISE_TUNE_ORDER_QUERY_NS))
		return;
	if (lane->group != NULL)
		reprise_group_issue_waits(lane);
	reprise_lock_give(&lane->lock);
}

/* Issues what the lane holds, which comes before the point. */
static void issue(struct reprise_lane *lane, const struct point *point)
{
	if (atomic_load(&lane->deferred_since) != 0)
		reprise_lane_tell(lane, false);
	if (point->stream == CU_STREAM_LEGACY)
		issue_pending_waits(lane);
}

/* True if a lane may have something to issue before another stream's op. */
static bool any_may_issue(void)
{
	return atomic_load(&reprise_holding) != 0 || atomic_load(&reprise_groups_waiting) != 0;
}

void reprise_lanes_issue_before(const struct reprise_lane *lane, bool across)
{
	if (!any_may_issue())
		return;

	struct point point = {lane->stream, lane->owner, lane->context, true};

	for (struct reprise_lane *other = reprise_lanes_first(); other != NULL; other = other->next)
		if (other != lane && (other->context == point.context ? precedes(other, &point) : across))
			issue(other, &point);
}

static void issue_before_call(CUstream stream, bool per_thread)
{
	struct point point = point_of(stream, per_thread);
	bool across = point.stream == CU_STREAM_LEGACY;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (precedes(lane, &point) || (across && lane->context != point.context))
			issue(reprise_lane_head(lane), &point);
}

void reprise_lanes_make_way_for(CUstream stream, bool per_thread)
{
	CUstream resolved = reprise_stream_resolve(stream, per_thread);

	if (any_may_issue())
		issue_before_call(stream, per_thread);
	if (resolved > CU_STREAM_PER_THREAD)
		reprise_lanes_lose_order(resolved);
	reprise_own_streams_settle(stream, per_thread);
}

/* A barrier for a group: issues what is deferred, and the pending waits of all members or of the
 * member with `stream`. `forgets`: the records of events, which the call may have recorded anew.
 * Under the lane's lock. */
static void tell_group(struct reprise_lane *head, bool wait, bool forgets, bool all_waits,
                       CUstream stream)
{
	reprise_lane_barrier(head, wait);
	if (head->group == NULL)
		return;
	if (forgets)
		reprise_group_forget_events(head->group);
	if (all_waits)
		reprise_group_issue_waits(head);
	else
		reprise_group_issue_wait(head, reprise_group_member(head->group, stream));
}

static void tell_all(struct reprise_lane *lane, bool wait)
{
	if (!reprise_group_is_tracked(lane)) {
		reprise_lane_tell(lane, wait);
		return;
	}
	reprise_lock_take(&lane->lock);
	tell_group(lane, wait, true, true, NULL);
	reprise_lock_give(&lane->lock);
}

static bool is_own(struct reprise_lane *lane, uint32_t self)
{
	return atomic_load_explicit(&lane->thread, memory_order_relaxed) == self &&
	       reprise_lane_head(lane) == lane;
}

static void tell_own(void (*tell)(struct reprise_lane *lane))
{
	uint32_t self = reprise_thread_self();

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (is_own(lane, self))
			tell(lane);
}

static void issue_held(struct reprise_lane *lane)
{
	tell_all(lane, false);
}

void reprise_lanes_issue_own(void)
{
	tell_own(issue_held);
}

void reprise_lanes_issue_all(void)
{
	uint32_t self = reprise_thread_self();

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (atomic_load(&lane->deferred_since) != 0 && is_own(lane, self))
			tell_all(lane, false);
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		reprise_hold_issues(lane, REPRISE_TUNE_ORDER_LOADING_NS);
}

static void leave(struct reprise_lane *lane)
{
	if (!reprise_group_is_tracked(lane)) {
		reprise_lane_tell(lane, false);
		return;
	}
	reprise_lock_take(&lane->lock);
	reprise_lane_barrier(lane, false);
	if (lane->group != NULL)
		reprise_group_untrack(lane);
	reprise_lock_give(&lane->lock);
}

void reprise_lanes_eager_call(CUstream stream, bool per_thread)
{
	tell_own(leave);
	reprise_lanes_make_way_for(stream, per_thread);
}

/* Under the lock of `taken`, which has the ops of the lane's stream. Calls of a group's own thread
 * are in sequence, so they need no note. */
static void note_call(struct reprise_lane *lane, const struct reprise_lane *taken)
{
	if (taken->group != NULL && taken->group->thread == reprise_thread_self())
		return;
	reprise_calls_note(lane);
}

void reprise_lanes_order(struct reprise_lane *lane, CUstream stream, bool per_thread, bool may_work)
{
	struct reprise_lane *taken;

	if (lane == NULL || lane->unusable) {
		reprise_lanes_make_way_for(stream, per_thread);
		return;
	}
	reprise_lanes_make_way(lane, true); /* it may be a copy between devices */
	taken = reprise_lane_take(lane);
	if (reprise_lane_has_news(taken))
		reprise_lane_barrier(taken, false);
	else
		reprise_lane_unattend(taken);
	if (taken->group != NULL)
		reprise_group_note_call(taken, lane->member);
	if (may_work)
		note_call(lane, taken);
	reprise_own_streams_settle(stream, per_thread);
	reprise_lock_give(&taken->lock);
}

/* ---- what a synchronising call may observe ---- */

static bool observes(enum reprise_sync what, const struct point *point,
                     const struct reprise_lane *lane)
{
	switch (what) {
	case REPRISE_SYNC_STREAM:
	case REPRISE_SYNC_QUERY:
		return precedes(lane, point);
	case REPRISE_SYNC_EVENT:
	case REPRISE_SYNC_EVENT_QUERY:
		return reprise_lane_is_group(lane); /* its records may be deferred */
	case REPRISE_SYNC_EVENT_END:
		return false;
	case REPRISE_SYNC_DEFAULT:
		return precedes(lane, point) || lane->context != point->context;
	case REPRISE_SYNC_CONTEXT:
		return lane->context == point->context;
	default:
		return true;
	}
}

/* True if a call by thread `self` concerns the lane. */
static bool concerns(enum reprise_sync what, const struct point *point, uint32_t self,
                     const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->thread, memory_order_relaxed) == self ||
	       observes(what, point, lane);
}

/* True if no event has to be forgotten. Calls of these kinds wait or ask, but for cuCtxRecordEvent
 * and cuCtxWaitEvent: groups are told of their event before this (reprise_event_met()). */
static bool keeps_events(enum reprise_sync what)
{
	return what == REPRISE_SYNC_STREAM || what == REPRISE_SYNC_QUERY ||
	       what == REPRISE_SYNC_CONTEXT;
}

static bool is_query(enum reprise_sync what)
{
	return what == REPRISE_SYNC_QUERY || what == REPRISE_SYNC_EVENT_QUERY;
}

static bool is_of_event(enum reprise_sync what)
{
	return what == REPRISE_SYNC_EVENT || what == REPRISE_SYNC_EVENT_QUERY ||
	       what == REPRISE_SYNC_EVENT_END;
}

/* For a group, and a call that reads an event (NULL: any): a barrier if the group is this thread's
 * or has deferred a record of the event. Otherwise the call does not concern it. */
static void tell_of_event(struct reprise_lane *lane, CUevent event, uint32_t self)
{
	if (event == NULL || atomic_load(&lane->thread) == self || reprise_held_has(&lane->held, event))
		reprise_lane_barrier(lane, true);
}

/* The group's members whose streams the call waits for, all that they have: a bit for each. */
static uint8_t waited_for(const struct reprise_group *group, enum reprise_sync what,
                          const struct point *point)
{
	unsigned int member;

	if (what == REPRISE_SYNC_CONTEXT)
		return group->members[0]->context == point->context ? (uint8_t)((1u << group->count) - 1)
		                                                    : 0;
	if (what != REPRISE_SYNC_STREAM)
		return 0;
	member = reprise_group_member(group, point->stream);
	return member < group->count ? (uint8_t)(1u << member) : 0;
}

enum telling {
	TOLD,
	NOT_TOLD,     /* by a query: the driver may keep the lane's lock or its issuing thread */
	WAIT_PENDING, /* told, but a wait is pending on the stream asked about: it has not finished */
};

/*
 * Under the lane's lock. If one stream is waited for, its pending wait is issued. The other
 * members' waits stay pending: what they wait for is in the origin's stream, which is waited for as
 * well where it matters. A synchronous copy is work on the legacy stream: all pending waits are
 * issued before it. A query does not issue the wait while its stream is busy: the stream may
 * be full, and the answer is known to be "not ready". The driver is not asked then: it might find
 * the stream's own work done before the pending wait is.
 */
static enum telling told(struct reprise_lane *lane, enum reprise_sync what, uintptr_t handle,
                         const struct point *point, uint32_t self)
{
	bool wait_pending = false;

	if (!reprise_group_is_tracked(lane)) {
		reprise_lane_told(lane, true);
	} else if (is_of_event(what)) {
		tell_of_event(lane, (CUevent)handle, self);
	} else {
		wait_pending = what == REPRISE_SYNC_QUERY && reprise_group_is_busy(lane, point->stream);
		tell_group(lane, true, !keeps_events(what), what == REPRISE_SYNC_DEFAULT,
		           !wait_pending && (what == REPRISE_SYNC_STREAM || what == REPRISE_SYNC_QUERY)
		               ? point->stream
		               : NULL);
	}
	return wait_pending ? WAIT_PENDING : TOLD;
}

/*
 * A query about a lane of another thread. Without Reprise only the issuing thread can be kept by
 * the driver, and others can query meanwhile. So nothing is issued here, and each wait has a limit.
 */
static enum telling tell_of_query(struct reprise_lane *lane, enum reprise_sync what,
                                  uintptr_t handle, const struct point *point, uint32_t self)
{
	enum telling telling = TOLD;
	bool of_event = is_of_event(what), holds;

	if ((!of_event && !reprise_hold_issues(lane, REPRISE_TUNE_ORDER_QUERY_NS)) ||
	    !reprise_lock_take_within(&lane->lock, REPRISE_TUNE_ORDER_QUERY_NS))
		return NOT_TOLD;
	holds = atomic_load(&lane->deferred_since) != 0 &&
	        (!of_event || handle == 0 || reprise_held_has(&lane->held, (CUevent)handle));
	if (!holds)
		telling = told(lane, what, handle, point, self);
	reprise_lock_give(&lane->lock);
	return holds && !(of_event && reprise_hold_issues(lane, REPRISE_TUNE_ORDER_QUERY_NS)) ? NOT_TOLD
	                                                                                      : telling;
}

static enum telling tell(struct reprise_lane *lane, enum reprise_sync what, uintptr_t handle,
                         const struct point *point, uint32_t self)
{
	enum telling telling;

	if (!reprise_group_is_tracked(lane) && !reprise_lane_is_to_be_told(lane))
		return TOLD;
	if (is_of_event(what) && handle != 0 &&
	    atomic_load_explicit(&lane->thread, memory_order_relaxed) != self &&
	    reprise_lane_is_group(lane) && !reprise_held_has(&lane->held, (CUevent)handle))
		return TOLD;
	if (is_query(what) && atomic_load_explicit(&lane->thread, memory_order_relaxed) != self)
		return tell_of_query(lane, what, handle, point, self);
	reprise_lock_take(&lane->lock);
	telling = told(lane, what, handle, point, self);
	reprise_lock_give(&lane->lock);
	return telling;
}

static struct point point_of_wait(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	bool of_stream =
		what == REPRISE_SYNC_STREAM || what == REPRISE_SYNC_QUERY || what == REPRISE_SYNC_DEFAULT;
	struct point point =
		of_stream
			? point_of((CUstream)handle, per_thread)
			: (struct point){.context = what == REPRISE_SYNC_CONTEXT ? (CUcontext)handle : NULL};

	if (point.context == NULL)
		reprise_driver_current(&point.context);
	return point;
}

static bool observes_any_of(enum reprise_sync what, const struct point *point,
                            const struct reprise_lane *head)
{
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (reprise_lane_head(lane) == head && observes(what, point, lane))
			return true;
	return false;
}

/* True if what is queried has not finished, as far as `head` tells, which may be a group's head. If
 * the lane could not be told: something before the point is deferred there, or a group may have a
 * pending wait or a deferred record of the event. */
static bool is_pending(enum telling telling, enum reprise_sync what, const struct point *point,
                       const struct reprise_lane *head)
{
	if (telling != NOT_TOLD)
		return telling == WAIT_PENDING;
	return (reprise_lane_is_group(head) || atomic_load(&head->deferred_since) != 0) &&
	       observes_any_of(what, point, head);
}

static bool sync_known(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	struct point point = point_of_wait(what, handle, per_thread);
	uint32_t self = reprise_thread_self();
	bool pending = false;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next) {
		struct reprise_lane *head = reprise_lane_head(lane);

		if (!concerns(what, &point, self, lane) ||
		    (head != lane && concerns(what, &point, self, head)))
			continue;
		pending = is_pending(tell(head, what, handle, &point, self), what, &point, head) || pending;
	}
	return pending;
}

void reprise_lanes_barrier(bool wait)
{
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		tell_all(lane, wait);
}

/* The thread's own stream, if the call concerns it: what others issued in its place is waited for,
 * or comes before what the call gives the stream. True if the call asks, and it has not finished.
 */
static bool sync_own(enum reprise_sync what, CUstream stream, bool per_thread)
{
	switch (what) {
	case REPRISE_SYNC_STREAM:
		reprise_own_streams_await(stream, per_thread);
		return false;
	case REPRISE_SYNC_QUERY:
		return !reprise_own_streams_have_finished(stream, per_thread);
	case REPRISE_SYNC_DEFAULT: /* a copy is work */
		reprise_own_streams_settle(stream, per_thread);
		return false;
	case REPRISE_SYNC_ALL:
	case REPRISE_SYNC_UNKNOWN:
		reprise_own_streams_settle(CU_STREAM_PER_THREAD, true);
		return false;
	default:
		return false;
	}
}

_Thread_local uint32_t reprise_waits_begun __attribute__((tls_model(REPRISE_TLS_MODEL)));

bool reprise_lanes_sync(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	bool pending = false;

	if (what != REPRISE_SYNC_UNKNOWN) {
		pending = sync_known(what, handle, per_thread);
	} else {
		reprise_lanes_barrier(true);
		reprise_calls_note_unknown();
	}
	if (__builtin_expect(atomic_load(&reprise_unsettled) == 0, 1))
		return pending;
	return sync_own(what, (CUstream)handle, per_thread) || pending;
}

/* Of lanes of other threads no lock is taken: the driver may keep the thread that has it. */
void reprise_lanes_order_by_wait(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	uint32_t self = reprise_thread_self();

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next) {
		struct point point;

		if (!reprise_group_is_tracked(lane) || !is_own(lane, self))
			continue;
		point = point_of_wait(what, handle, per_thread);
		reprise_lock_take(&lane->lock);
		if (lane->group != NULL && lane->group->thread == self)
			reprise_group_waits(lane->group, waited_for(lane->group, what, &point));
		reprise_lock_give(&lane->lock);
	}
}

static void lose_own_order(struct reprise_lane *lane)
{
	if (!reprise_group_is_tracked(lane))
		return;
	reprise_lock_take(&lane->lock);
	if (lane->group != NULL)
		reprise_group_lose_order(lane);
	reprise_lock_give(&lane->lock);
}

void reprise_lanes_wait_failed(void)
{
	if (atomic_load(&reprise_groups_tracked) != 0)
		tell_own(lose_own_order);
}

CUresult reprise_lanes_error(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	struct point point = point_of_wait(what, handle, per_thread);
	struct reprise_errors_wait wait = {what, point.stream, point.context, point.blocking};

	return reprise_errors_take(&wait);
}
