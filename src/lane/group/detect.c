/* Fork detection, and events that other calls use. The tables have a bounded size: a new entry
 * replaces an old one. */
#include "lane/group/group.h"

#include <string.h>

#include "base/hash.h"
#include "base/ending.h"
#include "base/tuning.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "lane/side_exit.h"

#define ROWS 64 /* of events, and of pairs */
#define ROW 4

static struct reprise_lock detect_lock;
static uint64_t now; /* number of calls noted */
static struct record {
	CUevent event;
	struct reprise_lane *lane; /* the last one known to have recorded it */
	uint64_t at;
	uint32_t thread, waits; /* who has recorded it, and its waits then (lane/order.h) */
} records[ROWS][ROW];
static struct pair {
	struct reprise_lane *origin, *side;
	uint32_t thread;
	bool forked;
	uint64_t forked_at, joined_at; /* when one waited for the other last */
	uint64_t met_record;           /* the record that was waited for last */
	uint64_t renewed_at;           /* when a record was waited for that had not been before */
	uint32_t joined_waits;         /* the thread's waits at the last join */
	uint32_t met;
} pairs[ROWS][ROW];

/* The event's record, or the entry that it would replace. */
static struct record *record_of(CUevent event)
{
	uint64_t hash = reprise_hash_mix((uintptr_t)event, 3);
	struct record *row = records[hash % ROWS];

	for (unsigned int i = 0; i < ROW; i++)
		if (row[i].event == event || row[i].event == NULL)
			return &row[i];
	return &row[(hash >> 32) % ROW];
}

static struct pair *pair_of(struct reprise_lane *origin, struct reprise_lane *side)
{
	uint64_t hash = reprise_hash_mix(reprise_hash_mix((uintptr_t)origin, (uintptr_t)side), 1);
	struct pair *row = pairs[hash % ROWS], *pair = &row[(hash >> 32) % ROW];

	for (unsigned int i = 0; i < ROW; i++)
		if ((row[i].origin == origin && row[i].side == side) || row[i].origin == NULL) {
			pair = &row[i];
			break;
		}
	if (pair->origin != origin || pair->side != side)
		*pair = (struct pair){.origin = origin, .side = side};
	return pair;
}

static uint32_t often_enough(const struct reprise_lane *origin, const struct reprise_lane *side)
{
	uint32_t splits = origin->splits > side->splits ? origin->splits : side->splits;

	return (uint32_t)REPRISE_TUNE_GROUP_FORKS
	       << (splits < REPRISE_TUNE_GROUP_SPLITS_MOST ? splits : REPRISE_TUNE_GROUP_SPLITS_MOST);
}

/* True if the host has waited since the last join, and the event was recorded behind that wait: the
 * side has forked without an event, if it had nothing to do in between. */
static bool begun_beside(const struct pair *pair, const struct record *record)
{
	return record->thread == reprise_thread_self() && record->waits == reprise_waits_begun &&
	       pair->joined_waits != reprise_waits_begun;
}

/* True if forks of `origin` to `side`, all by this thread, have been joined again often enough for
 * a merge; or if they wait for each other by turns. */
static bool fork_rejoined(struct reprise_lane *origin, struct reprise_lane *side,
                          const struct record *record)
{
	uint64_t waited_for = pair_of(side, origin)->renewed_at;
	struct pair *pair = pair_of(origin, side);
	bool own = pair->thread == reprise_thread_self(), renewed = record->at > pair->met_record,
		 forked = own && ((pair->forked && record->at > pair->forked_at) ||
	                      begun_beside(pair, record) || (renewed && waited_for > pair->renewed_at));

	pair->thread = reprise_thread_self();
	if (forked)
		pair->met++;
	else if (renewed) /* of a group, several may wait for one record */
		pair->met = 0;
	pair->forked = false;
	pair->met_record = record->at;
	if (renewed)
		pair->renewed_at = now;
	pair->joined_at = now;
	pair->joined_waits = reprise_waits_begun;
	if (pair->met < often_enough(origin, side))
		return false;
	pair->met = 0;
	return true;
}

/* Counts as a fork only if the event was recorded behind the last join. */
static void fork_to(struct reprise_lane *origin, struct reprise_lane *side, uint64_t recorded_at)
{
	struct pair *pair = pair_of(origin, side);

	if (pair->thread != reprise_thread_self())
		pair->met = 0;
	pair->thread = reprise_thread_self();
	pair->forked = recorded_at > pair->joined_at;
	pair->forked_at = now;
}

void reprise_fork_detect_note(struct reprise_lane *lane, const struct reprise_call *call)
{
	struct record *record;
	struct reprise_lane *here, *there = NULL;
	bool join = false;

	reprise_lock_take(&detect_lock);
	now++;
	here = reprise_lane_head(lane);
	record = record_of(call->event);
	if (call->kind == REPRISE_OP_RECORD)
		*record =
			(struct record){call->event, lane, now, reprise_thread_self(), reprise_waits_begun};
	else if (record->event == call->event)
		there = reprise_lane_head(record->lane);
	if (there != NULL && there != here) {
		join = fork_rejoined(here, there, record);
		fork_to(there, here, record->at);
	}
	reprise_lock_give(&detect_lock);
	if (join)
		reprise_group_merge(here, there);
}

void reprise_fork_detect_reset(void)
{
	atomic_store(&detect_lock.word, 0);
	memset(records, 0, sizeof(records));
	memset(pairs, 0, sizeof(pairs));
}

/* ---- events that other calls use ---- */

struct event_use {
	const struct reprise_lane *told;
	CUevent event;
	bool recorded;
};

/* True if what is deferred comes before this use of the event. */
static bool comes_before(const struct reprise_lane *lane, const struct event_use *use)
{
	return use->event == NULL || reprise_held_has(&lane->held, use->event) ||
	       (use->recorded && reprise_held_has(&lane->held_waits, use->event));
}

/* Takes the lane's lock. False if there is nothing to do with it: nothing deferred comes before,
 * and the driver may keep the lock's holder until this thread goes on. */
static bool take_for_event(struct reprise_lane *lane, const struct event_use *use)
{
	if (comes_before(lane, use)) {
		reprise_lock_take(&lane->lock);
		return true;
	}
	if (!use->recorded)
		return false;
	if (reprise_lock_try(&lane->lock))
		return true;
	atomic_store(&lane->forgets, true);
	return false;
}

static void flush_event(struct reprise_lane *lane, void *context)
{
	const struct event_use *event_use = context;

	if (!reprise_group_is_tracked(lane) || lane == event_use->told ||
	    (event_use->event != NULL && !reprise_knows(&lane->events, event_use->event)))
		return;
	if (!take_for_event(lane, event_use))
		return;
	if (comes_before(lane, event_use))
		reprise_lane_barrier(lane, false);
	if (lane->group != NULL && event_use->event == NULL)
		reprise_group_forget_events(lane->group);
	else if (lane->group != NULL && event_use->recorded)
		reprise_group_forget_event(lane->group, event_use->event);
	reprise_lock_give(&lane->lock);
}

void reprise_group_event_used(const struct reprise_lane *lane, CUevent event, bool recorded)
{
	struct event_use event_use = {lane != NULL ? atomic_load(&lane->group_head) : NULL, event,
	                              recorded};
	uint32_t told = event_use.told != NULL && reprise_group_is_tracked(event_use.told);

	if (atomic_load(&reprise_groups_tracked) > told)
		reprise_lanes_each(flush_event, &event_use);
}
