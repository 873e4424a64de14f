#include "meeting.h"

#include <string.h>

#include "../base/hash.h"
#include "joint.h"

#define EVENTS 64
#define PAIRS 64
#define MET_OFTEN 4      /* times; twice as often after each parting, */
#define PARTINGS_MOST 12 /* up to so many */

static struct reprise_lock meetings_lock;
static struct {
	CUevent event;
	struct reprise_lane *lane; /* that recorded it last, as far as is known */
} records[EVENTS];
static struct pair {
	struct reprise_lane *origin, *side;
	const void *thread;
	bool forked;
	uint32_t met;
} pairs[PAIRS];

static struct pair *pair_of(struct reprise_lane *origin, struct reprise_lane *side)
{
	struct pair *pair = &pairs[reprise_hash_mix(reprise_hash_mix((uintptr_t)origin, (uintptr_t)side), 1) % PAIRS];

	if (pair->origin != origin || pair->side != side)
		*pair = (struct pair){origin, side, NULL, false, 0};
	return pair;
}

static struct reprise_lane *head_of(struct reprise_lane *lane)
{
	struct reprise_lane *head = atomic_load(&lane->joined);

	return head != NULL ? head : lane;
}

static uint32_t often_enough(const struct reprise_lane *origin, const struct reprise_lane *side)
{
	uint32_t partings = origin->partings > side->partings ? origin->partings : side->partings;

	return (uint32_t)MET_OFTEN << (partings < PARTINGS_MOST ? partings : PARTINGS_MOST);
}

/* The forks of `origin` to `side` have been joined again, all by this thread, so often that they may go one way. */
static bool joined_again(struct reprise_lane *origin, struct reprise_lane *side)
{
	struct pair *pair = pair_of(origin, side);
	bool forked = pair->forked && pair->thread == reprise_joint_thread();

	pair->met = forked ? pair->met + 1 : 0;
	pair->forked = false;
	if (pair->met < often_enough(origin, side))
		return false;
	pair->met = 0;
	return true;
}

static void fork_to(struct reprise_lane *origin, struct reprise_lane *side)
{
	struct pair *pair = pair_of(origin, side);

	if (pair->thread != reprise_joint_thread())
		pair->met = 0;
	pair->thread = reprise_joint_thread();
	pair->forked = true;
}

void reprise_meeting_note(struct reprise_lane *lane, const struct reprise_call *call)
{
	unsigned int slot = (unsigned int)(reprise_hash_mix((uintptr_t)call->event, 3) % EVENTS);
	struct reprise_lane *here, *there = NULL;
	bool join = false;

	reprise_lock_take(&meetings_lock);
	here = head_of(lane);
	if (call->kind == REPRISE_OP_RECORD) {
		records[slot].event = call->event;
		records[slot].lane = lane;
	} else if (records[slot].event == call->event) {
		there = head_of(records[slot].lane);
	}
	if (there != NULL && there != here) {
		join = joined_again(here, there);
		fork_to(there, here);
	}
	reprise_lock_give(&meetings_lock);
	if (join)
		reprise_joint_join(here, there);
}

void reprise_meeting_reset(void)
{
	atomic_store(&meetings_lock.word, 0);
	memset(records, 0, sizeof(records));
	memset(pairs, 0, sizeof(pairs));
}
