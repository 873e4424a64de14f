/*
 * Calls of this thread that are under way, and what a thread leaves when it ends.
 *
 * A thread that ends only marks its lanes: its destructors make no driver calls of Reprise. The
 * builder gives the lanes up. If a later destructor calls again, it finds no lane of its own and
 * gets another, which is marked in the next round of destructors.
 */
#include "lane/threads.h"

#include <stdatomic.h>

#include "base/ending.h"
#include "base/placement.h"
#include "graph/building.h"
#include "graph/program_captures.h"
#include "lane/errors.h"
#include "lane/group/group.h"
#include "lane/own_stream.h"
#include "lane/registry.h"
#include "lane/side_exit.h"
#include "lane/traces.h"

/* `context` points to a stream: the group with that stream, or all groups if it is NULL. The locks
 * of other groups are not taken: the driver may keep their holders. */
static void lose_order(struct reprise_lane *lane, void *context)
{
	CUstream stream = *(CUstream *)context;
	struct reprise_lane *head = stream == NULL ? lane : reprise_lane_head(lane);

	if (!reprise_group_is_tracked(head) || (stream != NULL && lane->stream != stream))
		return;
	reprise_lock_take(&head->lock);
	reprise_lane_barrier(head, false);
	if (head->group != NULL &&
	    (stream == NULL || reprise_group_member(head->group, stream) < head->group->count))
		reprise_group_untrack(head);
	reprise_lock_give(&head->lock);
}

void reprise_lanes_lose_order(CUstream stream)
{
	if (atomic_load(&reprise_groups_tracked) > 0)
		reprise_lanes_each(lose_order, &stream);
}

/* The lane on whose stream this thread's last call was that is no op. Its door has jumped to the
 * driver, so Reprise does not see the return. */
static _Thread_local struct reprise_lane *called_on __attribute__((tls_model(REPRISE_TLS_MODEL)));
/* The same of a call on unknown streams. */
static _Thread_local bool called_anywhere __attribute__((tls_model(REPRISE_TLS_MODEL)));

void reprise_lanes_call_begins(struct reprise_lane *lane)
{
	atomic_fetch_add(&lane->foreign_calls, 1);
}

void reprise_lanes_call_ends(struct reprise_lane *lane)
{
	struct reprise_lane *taken = reprise_lane_take(lane);

	if (taken->group != NULL)
		reprise_group_note_call(taken, lane->member);
	atomic_fetch_sub(&lane->foreign_calls, 1);
	reprise_lock_give(&taken->lock);
}

static __attribute__((noinline)) void returned(void)
{
	struct reprise_lane *lane = called_on;

	called_on = NULL;
	if (lane != NULL)
		reprise_lanes_call_ends(lane);
	if (!called_anywhere)
		return;
	called_anywhere = false;
	reprise_lanes_lose_order(NULL);
	atomic_fetch_sub(&reprise_group_unknown_calls, 1);
}

void reprise_lanes_returned(void)
{
	if (__builtin_expect(called_on != NULL || called_anywhere, 0))
		returned();
}

void reprise_lanes_calls_reset(void)
{
	called_on = NULL;
	called_anywhere = false;
}

static void thread_ends(void *unused)
{
	uint32_t self = reprise_thread_self();
	bool any = false;

	reprise_lanes_returned();
	if (reprise_program_captures_any())
		reprise_program_captures_thread_ended(self);
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next) {
		if (atomic_load(&lane->owner) != self)
			continue;
		atomic_store(&lane->owner, REPRISE_OWNER_ENDED);
		any = true;
	}
	if (any) {
		reprise_lanes_look_again();
		reprise_graph_want_cleanup();
	}
}

static struct reprise_thread_end thread_end = {.ends = thread_ends};

void reprise_thread_owns(void)
{
	reprise_thread_end_hear(&thread_end);
}

void reprise_calls_note(struct reprise_lane *lane)
{
	reprise_lanes_call_begins(lane);
	reprise_thread_owns();
	called_on = lane;
}

void reprise_calls_note_unknown(void)
{
	atomic_fetch_add(&reprise_group_unknown_calls, 1);
	reprise_thread_owns();
	called_anywhere = true;
	reprise_lanes_lose_order(NULL);
}

/* ---- lanes of threads' own default streams ---- */

/* Whether a stream that is destroyed keeps its place in the legacy stream's order while it has work
 * to do, no GPU was asked about. So the proxy stays until it has none. Under the lane's lock, with
 * nothing deferred. True if the lane is given up. */
static bool give_up(struct reprise_lane *lane)
{
	struct reprise_capture_streams capture_streams;
	bool retired = atomic_load(&lane->retired);

	if (!retired) {
		reprise_lane_barrier(lane, false);
		reprise_lane_forget(lane);
	}
	if (!reprise_own_stream_is_idle(lane))
		return false;
	capture_streams = reprise_lane_take_capture_streams(lane);
	reprise_errors_stream_ended(lane->stream);
	/* Behind the second of these two it may become another stream's. */
	reprise_own_stream_drop(lane);
	if (!retired)
		reprise_lanes_retire(lane);
	reprise_lane_close(&capture_streams);
	return true;
}

/* What the lane holds the hold thread issues. The driver may keep it, and the lock with it. */
static bool try_give_up(struct reprise_lane *lane)
{
	bool given_up;

	if (!reprise_lock_try(&lane->lock))
		return false;
	given_up = atomic_load(&lane->deferred_since) == 0 && give_up(lane);
	reprise_lock_give(&lane->lock);
	return given_up;
}

bool reprise_threads_clean_up(bool *left)
{
	bool any = false, all = true;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next) {
		bool given_up;

		if (atomic_load(&lane->owner) != REPRISE_OWNER_ENDED ||
		    (atomic_load(&lane->retired) && !atomic_load(&lane->unsettled)))
			continue;
		given_up = try_give_up(lane);
		any = any || given_up;
		all = all && given_up;
	}
	*left = !all;
	return any;
}

/* A lane that is made later reads the attributes when it is made. */
void reprise_thread_attributes_change(bool call_returned)
{
	struct reprise_lane *lane = reprise_lanes_known(CU_STREAM_PER_THREAD, true);
	bool own;

	if (lane == NULL)
		return;
	reprise_graph_building_pause();
	reprise_lock_take(&lane->lock);
	own = atomic_load(&lane->owner) == reprise_thread_self(); /* otherwise its context has ended */
	if (own && call_returned)
		reprise_lane_read_attributes(lane);
	else if (own)
		lane->capture_streams.carried.unknown = true;
	reprise_lock_give(&lane->lock);
	reprise_graph_building_resume();
}
