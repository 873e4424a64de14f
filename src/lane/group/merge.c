/*
 * Merge and split. `merging` is held during both; no lane's lock is held when it is taken. The lane
 * that has a stream's ops changes only under `merging` and, for a split, the head's lock.
 *
 * The driver may keep a thread that issues ops or waits for events until another thread has done
 * something, which may need `merging` or paused building. So what is deferred and pending is issued
 * before `merging` is taken and building is paused, under the lane's lock alone.
 */
#include "lane/group/group.h"

#include <stdlib.h>

#include "base/inside.h"
#include "base/options.h"
#include "base/ending.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/building.h"
#include "graph/shadow.h"
#include "record/record.h"
#include "stats/counters.h"
#include "lane/side_exit.h"
#include "lane/ended_events.h"
#include "lane/traces.h"
#include "lane/observe.h"

static struct reprise_lock merging;
static _Atomic bool never;

/* The event at the end of a member's branches. It is kept in this from when it is made, so that
 * giving it back needs no memory. */
struct reprise_branch_end {
	struct reprise_branch_end *next; /* among the spares */
	CUcontext context;
	CUevent event;
};

/* Those of groups that were split. A graph that still runs may record one, so they are reused, not
 * destroyed. Under `merging`. */
static struct reprise_branch_end *spares;

/* ---- merge ---- */

/* NULL without memory, or if the driver makes none. Under `merging`. The context is current. */
static struct reprise_branch_end *take_branch_end(CUcontext context)
{
	struct reprise_branch_end *taken;

	for (struct reprise_branch_end **at = &spares; *at != NULL; at = &(*at)->next) {
		taken = *at;
		if (taken->context != context)
			continue;
		*at = taken->next;
		return taken;
	}
	taken = calloc(1, sizeof(*taken));
	if (taken == NULL)
		return NULL;
	taken->context = context;
	if (reprise_driver.cuEventCreate(&taken->event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
		return taken;
	free(taken);
	return NULL;
}

static void give_branch_end(struct reprise_branch_end *branch_end)
{
	branch_end->next = spares;
	spares = branch_end;
}

static void destroy_branch_end(CUcontext context, CUevent event)
{
	bool pushed = reprise_driver_make_current(context);

	reprise_driver.cuEventDestroy_v2(event); /* does not wait for an event that is not reached */
	reprise_driver_restore_current(pushed);
}

void reprise_group_destroy_spares(CUcontext context)
{
	reprise_lock_take(&merging);
	for (struct reprise_branch_end **at = &spares; *at != NULL;) {
		struct reprise_branch_end *spare = *at;

		if (context == NULL || spare->context == context) {
			destroy_branch_end(spare->context, spare->event);
			*at = spare->next;
			free(spare);
		} else {
			at = &spare->next;
		}
	}
	reprise_lock_give(&merging);
}

/* True if a group may have the lane's stream as a member. */
static bool is_fit(const struct reprise_lane *lane)
{
	return !atomic_load(&lane->retired) && !atomic_load(&lane->unusable) &&
	       atomic_load(&lane->stream) > CU_STREAM_PER_THREAD;
}

/* A graph has the priority of the stream that it is launched into. */
static bool are_alike(const struct reprise_lane *head, const struct reprise_lane *side)
{
	int of_head, of_side;

	return head->context == side->context &&
	       reprise_driver.cuStreamGetPriority(head->stream, &of_head) == CUDA_SUCCESS &&
	       reprise_driver.cuStreamGetPriority(side->stream, &of_side) == CUDA_SUCCESS &&
	       of_head == of_side;
}

static bool may_merge(const struct reprise_lane *head, const struct reprise_lane *side)
{
	/* A recording has events as barriers, and its replay must find the same traces. Verify waits
	 * for one stream after each launch. */
	return !reprise_observing && !reprise_verifying && !reprise_records() && !atomic_load(&never) &&
	       reprise_option(REPRISE_OPTION_HOLD) > 0 &&
	       reprise_driver.cuEventRecordWithFlags != NULL && head != side && is_fit(head) &&
	       is_fit(side) && are_alike(head, side);
}

static void set_branch_end(struct reprise_group *group, unsigned int member,
                           struct reprise_branch_end *branch_end)
{
	group->branch_ends[member] = branch_end;
	group->forks.branch_ends[member] = branch_end->event;
}

/* The head's part. False if there is no room for a member. */
static bool add_member(struct reprise_lane *head, struct reprise_lane *side, unsigned int *member)
{
	struct reprise_group *group = head->group != NULL ? head->group : calloc(1, sizeof(*group));
	struct reprise_branch_end *its, *of_head;

	if (group == NULL || group->count == REPRISE_MEMBERS_MOST ||
	    (its = take_branch_end(head->context)) == NULL)
		goto none;
	if (group->count == 0) {
		of_head = take_branch_end(head->context);
		if (of_head == NULL) {
			give_branch_end(its);
			goto none;
		}
		set_branch_end(group, 0, of_head);
		group->streams[0] = head->stream;
		group->blocking = head->blocking;
		group->forks.blocking = head->blocking;
		group->members[0] = head;
		group->count = 1;
		reprise_known_unlearn_all(&head->events);
		group->judged_at = reprise_lane_ops(head);
		group->failures = 1;
		head->member = 0;
		head->group = group;
		head->capture_streams.forks = &group->forks;
		reprise_lane_wake(head);
		atomic_store(&head->group_head, head);
		atomic_fetch_add(&reprise_groups, 1);
		reprise_group_track(head);
		atomic_store(&head->noisy, true);
		reprise_lane_attend(head);
	}
	*member = group->count++;
	group->blocking |= (uint8_t)(side->blocking << *member);
	atomic_store(&head->blocking, group->blocking != 0);
	group->thread = reprise_thread_self();
	group->patience = group->level_patience = REPRISE_TUNE_GROUP_PATIENCE;
	group->members[*member] = side;
	group->streams[*member] = group->forks.models[*member] = side->stream;
	set_branch_end(group, *member, its);
	reprise_group_lose_order(head);
	return true;
none:
	if (group != head->group)
		free(group);
	return false;
}

/* The head learns of the member first; then the member's ops go to the head. */
static bool join(struct reprise_lane *head, struct reprise_lane *side)
{
	unsigned int member;
	bool added;

	if (atomic_load(&side->group_head) != NULL ||
	    (atomic_load(&head->group_head) != NULL && atomic_load(&head->group_head) != head))
		return false;
	reprise_lock_take(&head->lock);
	reprise_lane_barrier(head, false);
	reprise_lane_forget(head); /* what becomes one graph must be watched in one piece */
	added = add_member(head, side, &member);
	reprise_lock_give(&head->lock);
	if (!added)
		return false;
	reprise_lock_take(&side->lock);
	reprise_lane_barrier(side, false);
	reprise_lane_move_to(side, REPRISE_BEFORE_NOTHING);
	side->last = NULL;
	side->expected = NULL;
	side->member = (uint8_t)member;
	reprise_lane_wake(side);
	atomic_store(&side->group_head, head);
	reprise_lock_give(&side->lock);
	reprise_count(REPRISE_COUNT_lanes_merged, 1);
	return true;
}

static bool might_merge(const struct reprise_lane *head, const struct reprise_lane *side)
{
	int entered = reprise_enter();
	bool might = may_merge(head, side);

	reprise_leave(entered);
	return might;
}

void reprise_group_flush(struct reprise_lane *lane)
{
	struct reprise_lane *taken = reprise_lane_take(lane);

	reprise_lane_barrier(taken, false);
	if (taken->group != NULL)
		reprise_group_issue_waits(taken);
	reprise_lock_give(&taken->lock);
}

bool reprise_group_merge(struct reprise_lane *head, struct reprise_lane *side)
{
	int entered;
	bool merged;

	if (!might_merge(head, side))
		return false;
	if (atomic_load(&side->group_head) != NULL &&
	    atomic_load(&side->group_head) != atomic_load(&head->group_head))
		reprise_group_split(side, false); /* the head will merge with its members, too */
	reprise_group_flush(head);
	reprise_group_flush(side);
	reprise_graph_building_pause();
	reprise_lock_take(&merging);
	entered = reprise_enter();
	merged = may_merge(head, side) && join(head, side);
	reprise_leave(entered);
	reprise_lock_give(&merging);
	reprise_graph_building_resume();
	return merged;
}

/* ---- split ---- */

/* Under `merging` and the head's lock, while building is paused. Pending waits are issued first: a
 * member's own lane must find its stream complete. */
static void part(struct reprise_lane *head, bool failed)
{
	struct reprise_group *group = head->group;
	bool pushed = reprise_driver_make_current(head->context);

	reprise_group_untrack(head);
	reprise_lane_forget_forks(head);
	reprise_forks_close(&group->forks);
	for (unsigned int member = 0; member < group->count; member++)
		give_branch_end(group->branch_ends[member]);
	reprise_driver_restore_current(pushed);
	atomic_store(&head->blocking, (group->blocking & 1) != 0);
	head->group = NULL;
	head->capture_streams.forks = NULL;
	reprise_lane_barrier(head, false); /* it need not be told of every call any more */
	for (unsigned int member = 0; member < group->count; member++) {
		if (failed && group->members[member]->splits < REPRISE_TUNE_GROUP_SPLITS_MOST)
			group->members[member]->splits += group->failures;
		atomic_store(&group->members[member]->group_head, NULL);
	}
	reprise_ended_forget(head); /* it is not told of ended events any more */
	free(group);
	atomic_fetch_sub(&reprise_groups, 1);
	reprise_count(REPRISE_COUNT_groups_split, 1);
}

void reprise_group_split_paused(struct reprise_lane *lane, bool failed)
{
	struct reprise_lane *head;
	int entered = reprise_enter();

	reprise_lock_take(&merging);
	head = atomic_load(&lane->group_head);
	if (head != NULL) {
		reprise_lock_take(&head->lock);
		reprise_lane_barrier(head, false);
		part(head, failed);
		reprise_lock_give(&head->lock);
	}
	reprise_lock_give(&merging);
	reprise_leave(entered);
}

void reprise_group_split(struct reprise_lane *lane, bool failed)
{
	if (atomic_load(&lane->group_head) == NULL)
		return;
	reprise_group_flush(lane);
	reprise_graph_building_pause();
	reprise_group_split_paused(lane, failed);
	reprise_graph_building_resume();
}

/* Waits for a merge under way. */
void reprise_group_never(void)
{
	reprise_lock_take(&merging);
	atomic_store(&never, true);
	reprise_lock_give(&merging);
}

void reprise_group_reset(void)
{
	atomic_store(&merging.word, 0);
	atomic_store(&reprise_groups, 0);
	atomic_store(&reprise_groups_tracked, 0);
	atomic_store(&reprise_groups_waiting, 0);
	atomic_store(&reprise_group_unknown_calls, 0);
	spares = NULL;
}
