/*
 * Who goes through all lanes here reads of most of them only what is seldom written (lane.h), so
 * that threads which use lanes of their own do not get in each other's way; of a lane that is
 * concerned, whether there is anything to tell it.
 */
#include "lane/order.h"

#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/hot.h"
#include "base/ending.h"
#include "base/tls.h"
#include "driver/driver.h"
#include "lane/barrier.h"
#include "lane/calls.h"
#include "lane/errors.h"
#include "lane/hold.h"
#include "lane/group/group.h"
#include "lane/registry.h"

/* How long a question waits for what others have deferred: 250 launches of 4 us. Launches take
 * longer only if the driver keeps them. */
#define QUESTION_NS 1000000u
#define LOADING_NS \
	100000000u /* the same before a kernel is loaded, which keeps others from issuing anything: a \
	              thread that is woken has run by then on a busy machine, too */
#define NAP_NS 50000

/* A point in the order of a stream. */
struct point {
	CUstream stream;   /* resolved */
	CUcontext context; /* of a default stream; handles of others are one context's anyway */
	bool blocking;
};

/* Whether what the lane holds comes before the point. */
static bool precedes(const struct reprise_lane *lane, const struct point *point)
{
	if (point->stream == CU_STREAM_LEGACY)
		return lane->blocking && lane->context == point->context;
	return lane->stream == point->stream || (point->blocking && lane->stream == CU_STREAM_LEGACY);
}

static struct point point_of(CUstream stream, bool per_thread)
{
	const struct reprise_lane *lane = reprise_lanes_known(stream, per_thread);
	struct point point = {.stream = reprise_stream_resolve(stream, per_thread),
	                      .blocking = lane == NULL || lane->blocking};

	reprise_driver.cuCtxGetCurrent(&point.context);
	return point;
}

/* ---- what an op comes after ---- */

static void issue(struct reprise_lane *lane)
{
	if (atomic_load(&lane->deferred_since) != 0)
		reprise_lane_tell(lane, false);
}

REPRISE_HOT void reprise_lanes_make_way(const struct reprise_lane *lane, bool is_copy)
{
	bool across = is_copy && lane->stream == CU_STREAM_LEGACY;

	if (__builtin_expect(!across && reprise_lanes_unordered(lane), 1))
		return;

	struct point point = {lane->stream, lane->context, true};

	for (struct reprise_lane *other = reprise_lanes_first(); other != NULL; other = other->next)
		if (other != lane && (other->context == point.context ? precedes(other, &point) : across))
			issue(other);
}

void reprise_lanes_make_way_for(CUstream stream, bool per_thread)
{
	struct point point = point_of(stream, per_thread);
	bool across = point.stream == CU_STREAM_LEGACY;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (precedes(lane, &point) || (across && lane->context != point.context))
			issue(reprise_lane_head(lane));
	if (point.stream > CU_STREAM_PER_THREAD)
		reprise_lanes_lose_order(point.stream);
}

/*
 * A barrier: what is deferred is issued, and what is owed is paid, on this stream if it is a
 * member's, or everywhere. Events may have been recorded by others. Under the lane's lock.
 */
static void tell_joint(struct reprise_lane *head, bool wait, bool pays_all, CUstream stream)
{
	reprise_lane_barrier(head, wait);
	if (head->group == NULL)
		return;
	reprise_group_forget_events(head->group);
	if (pays_all)
		reprise_group_issue_waits(head);
	else
		reprise_group_issue_wait(head, reprise_group_member(head->group, stream));
}

static void tell_all(struct reprise_lane *lane, bool wait)
{
	if (!reprise_lane_is_group(lane)) {
		reprise_lane_tell(lane, wait);
		return;
	}
	reprise_lock_take(&lane->lock);
	tell_joint(lane, wait, true, NULL);
	reprise_lock_give(&lane->lock);
}

static bool is_own(struct reprise_lane *lane, uint32_t self)
{
	return atomic_load_explicit(&lane->thread, memory_order_relaxed) == self &&
	       reprise_lane_head(lane) == lane;
}

void reprise_lanes_issue_own(void)
{
	uint32_t self = reprise_thread_self();

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (is_own(lane, self))
			tell_all(lane, false);
}

/* Whether what the lane holds is issued within the time. The hold limit's thread issues it: the
 * driver may keep whoever does. */
static bool is_issued(struct reprise_lane *lane, uint64_t patience_ns)
{
	uint64_t begin = reprise_clock_ns(), spent = 0;

	while (atomic_load(&lane->deferred_since) != 0) {
		reprise_hold_want(lane);
		if (spent > patience_ns)
			return false;
		if (spent < QUESTION_NS)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
		spent = reprise_clock_ns() - begin;
	}
	return true;
}

void reprise_lanes_issue_all(void)
{
	uint32_t self = reprise_thread_self();

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (atomic_load(&lane->deferred_since) != 0 && is_own(lane, self))
			tell_all(lane, false);
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		is_issued(lane, LOADING_NS);
}

void reprise_lanes_eager_call(CUstream stream, bool per_thread)
{
	reprise_lanes_issue_own();
	reprise_lanes_make_way_for(stream, per_thread);
}

/* Under the lock of `taken`, which has the ops of the lane's stream. The calls of a joint lane's
 * own thread come one after the other. */
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
	reprise_lanes_make_way(lane, true); /* it may be a copy from device to device */
	taken = reprise_lane_take(lane);
	if (taken->group != NULL || reprise_lane_has_news(taken))
		reprise_lane_barrier(taken, false);
	else
		reprise_lane_unattend(taken);
	if (taken->group != NULL)
		reprise_group_note_call(taken, lane->member);
	if (may_work)
		note_call(lane, taken);
	reprise_lock_give(&taken->lock);
}

/* ---- joint lanes ---- */

struct meeting {
	const struct reprise_lane *told;
	CUevent event;
	bool recorded;
};

static void meet_event(struct reprise_lane *lane, void *context)
{
	const struct meeting *meeting = context;

	if (!reprise_lane_is_group(lane) || lane == meeting->told ||
	    (meeting->event != NULL && !reprise_knows(&lane->events, meeting->event)))
		return;
	reprise_lock_take(&lane->lock);
	if (meeting->event == NULL || reprise_lane_defers(lane, meeting->event))
		reprise_lane_barrier(lane, false);
	if (lane->group != NULL && meeting->event == NULL)
		reprise_group_forget_events(lane->group);
	else if (lane->group != NULL && meeting->recorded)
		reprise_group_forget_event(lane->group, meeting->event);
	reprise_lock_give(&lane->lock);
}

void reprise_lanes_meet_events(const struct reprise_lane *lane, CUevent event, bool recorded)
{
	struct meeting meeting = {lane != NULL ? atomic_load(&lane->joined) : NULL, event, recorded};
	uint32_t told = meeting.told != NULL;

	if (atomic_load(&reprise_groups) > told)
		reprise_lanes_each(meet_event, &meeting);
}

/* ---- what a synchronising call may observe ---- */

static bool observes(enum reprise_sync what, const struct point *point,
                     const struct reprise_lane *lane)
{
	if (lane->owner != 0) /* nothing is held back there */
		return false;
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

/* A call by thread `self` concerns the lane. */
static bool concerns(enum reprise_sync what, const struct point *point, uint32_t self,
                     const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->thread, memory_order_relaxed) == self ||
	       observes(what, point, lane);
}

static bool is_question(enum reprise_sync what)
{
	return what == REPRISE_SYNC_QUERY || what == REPRISE_SYNC_EVENT_QUERY;
}

static bool is_of_event(enum reprise_sync what)
{
	return what == REPRISE_SYNC_EVENT || what == REPRISE_SYNC_EVENT_QUERY ||
	       what == REPRISE_SYNC_EVENT_END;
}

/* A joint lane, of a call that looks at an event (NULL: at any), and records none: a group that has
 * not deferred its record is another thread's affair. */
static void tell_of_event(struct reprise_lane *lane, CUevent event, uint32_t self)
{
	if (event == NULL || atomic_load(&lane->thread) == self || reprise_lane_defers(lane, event))
		reprise_lane_barrier(lane, true);
}

enum telling {
	TOLD,
	NOT_TOLD, /* of a question: who has the lane may be kept by the driver */
	UNPAID,   /* told, but of what is asked about an order is still owed: it has not finished */
};

/*
 * Under the lane's lock. Of a stream that is waited for, what it owes is paid; other streams of a
 * joint lane still owe it, since what they owe it to is in a stream that is waited for, too. Nor is
 * it paid by a question about a stream that has not finished anyway, which may be full. That stream
 * may have finished what is its own by the time that the driver is asked, but not what it owes: so
 * the driver is not asked.
 */
static enum telling told(struct reprise_lane *lane, enum reprise_sync what, uintptr_t handle,
                         const struct point *point, uint32_t self)
{
	bool unpaid = false;

	if (!reprise_lane_is_group(lane)) {
		reprise_lane_told(lane, true);
	} else if (is_of_event(what)) {
		tell_of_event(lane, (CUevent)handle, self);
	} else {
		unpaid = what == REPRISE_SYNC_QUERY && reprise_group_is_busy(lane, point->stream);
		tell_joint(lane, true, false,
		           !unpaid && (what == REPRISE_SYNC_STREAM || what == REPRISE_SYNC_QUERY)
		               ? point->stream
		               : NULL);
	}
	return unpaid ? UNPAID : TOLD;
}

/*
 * A question about what another thread works on. Plainly the thread that issues an op is the one
 * that the driver may keep, and others can ask meanwhile; so nothing is issued here, and nobody
 * waited for without limit.
 */
static enum telling tell_of_question(struct reprise_lane *lane, enum reprise_sync what,
                                     uintptr_t handle, const struct point *point, uint32_t self)
{
	enum telling telling = TOLD;
	bool of_event = is_of_event(what), holds;

	if ((!of_event && !is_issued(lane, QUESTION_NS)) ||
	    !reprise_lock_take_within(&lane->lock, QUESTION_NS))
		return NOT_TOLD;
	holds = atomic_load(&lane->deferred_since) != 0 &&
	        (!of_event || handle == 0 || reprise_lane_defers(lane, (CUevent)handle));
	if (!holds)
		telling = told(lane, what, handle, point, self);
	reprise_lock_give(&lane->lock);
	return holds && !(of_event && is_issued(lane, QUESTION_NS)) ? NOT_TOLD : telling;
}

static enum telling tell(struct reprise_lane *lane, enum reprise_sync what, uintptr_t handle,
                         const struct point *point, uint32_t self)
{
	enum telling telling;

	if (!reprise_lane_is_group(lane) && !reprise_lane_is_to_be_told(lane))
		return TOLD;
	if (is_of_event(what) && handle != 0 &&
	    atomic_load_explicit(&lane->thread, memory_order_relaxed) != self &&
	    reprise_lane_is_group(lane) && !reprise_knows(&lane->events, (const void *)handle))
		return TOLD;
	if (is_question(what) && atomic_load_explicit(&lane->thread, memory_order_relaxed) != self)
		return tell_of_question(lane, what, handle, point, self);
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
		reprise_driver.cuCtxGetCurrent(&point.context);
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

/*
 * Whether what is asked about has not finished, as far as a lane says that may be the head of
 * others. If it could not be told: something that comes before is deferred there, or a joint lane
 * owes order, or may, or defer the event's record.
 */
static bool is_pending(enum telling telling, enum reprise_sync what, const struct point *point,
                       const struct reprise_lane *head)
{
	if (telling != NOT_TOLD)
		return telling == UNPAID;
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

bool reprise_lanes_sync(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	if (what != REPRISE_SYNC_UNKNOWN)
		return sync_known(what, handle, per_thread);
	reprise_lanes_barrier(true);
	reprise_calls_note_unknown();
	return false;
}

CUresult reprise_lanes_error(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	struct point point = point_of_wait(what, handle, per_thread);
	struct reprise_errors_wait wait = {what, point.stream, point.context, point.blocking};

	return reprise_errors_take(&wait);
}
