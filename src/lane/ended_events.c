#include "lane/ended_events.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "lane/group/group.h"
#include "lane/registry.h"
#include "lane/traces.h"

struct reprise_ended {
	struct reprise_ended *next;
	CUevent event;
	/* References: the lanes that have not forgotten it, and the thread that destroys the event
	 * until reprise_ended_is_kept(). */
	unsigned int left;
	unsigned int count;
	struct reprise_lane *lanes[]; /* NULL: this lane has forgotten it */
};

/* A leaf; protects the list. A lane's entry is cleared only with that lane's lock held, too. */
static struct reprise_lock lock;
static struct reprise_ended *events;

/* For one event of few lanes at a time, where there is no memory. */
#define SPARE_LANES 4
static struct {
	atomic_bool taken;
	_Alignas(struct reprise_ended) unsigned char bytes[sizeof(struct reprise_ended) +
	                                                   SPARE_LANES * sizeof(struct reprise_lane *)];
} spare;

/* NULL: there is no memory. */
static struct reprise_ended *take_room(CUevent event, unsigned int lanes)
{
	struct reprise_ended *ended = calloc(1, sizeof(*ended) + lanes * sizeof(struct reprise_lane *));

	if (ended == NULL && lanes <= SPARE_LANES && !atomic_exchange(&spare.taken, true)) {
		ended = (struct reprise_ended *)spare.bytes;
		memset(spare.bytes, 0, sizeof(spare.bytes));
	}
	if (ended != NULL)
		ended->event = event;
	return ended;
}

static void give_room(struct reprise_ended *ended)
{
	if (ended == (struct reprise_ended *)spare.bytes)
		atomic_store(&spare.taken, false);
	else
		free(ended);
}

static bool may_name(const struct reprise_lane *lane, CUevent event)
{
	return reprise_lane_is_group(lane) && reprise_knows(&lane->events, event);
}

static unsigned int count_lanes(CUevent event)
{
	unsigned int count = 0;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		count += may_name(lane, event);
	return count;
}

/* ---- under the lock ---- */

static bool has_ended(CUevent event)
{
	struct reprise_ended *ended = events;

	while (ended != NULL && ended->event != event)
		ended = ended->next;
	return ended != NULL;
}

static void take_out(struct reprise_ended *ended)
{
	struct reprise_ended **at = &events;

	while (*at != ended)
		at = &(*at)->next;
	*at = ended->next;
}

/* The lane's entry, or NULL. */
static struct reprise_lane **entry_of(struct reprise_ended *ended, const struct reprise_lane *lane)
{
	for (unsigned int i = 0; i < ended->count; i++)
		if (ended->lanes[i] == lane)
			return &ended->lanes[i];
	return NULL;
}

/* The first from `from` on that the lane has to forget, or NULL. */
static struct reprise_ended *next_of(const struct reprise_lane *lane, struct reprise_ended *from)
{
	while (from != NULL && entry_of(from, lane) == NULL)
		from = from->next;
	return from;
}

/* Drops a reference. True if it was the last: the event is out of the list. */
static bool let_go(struct reprise_ended *ended)
{
	if (--ended->left > 0)
		return false;
	take_out(ended);
	return true;
}

/* A group is split under its lane's lock, and then forgets its ended events. So each lane that is a
 * group here learns of the event. */
static void fill(struct reprise_ended *ended, unsigned int room)
{
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL && ended->count < room;
	     lane = lane->next) {
		if (!may_name(lane, ended->event))
			continue;
		ended->lanes[ended->count++] = lane;
		atomic_fetch_add(&lane->ended, 1);
	}
	ended->left = ended->count + 1;
	ended->next = events;
	events = ended;
}

/* ---- the thread that destroys an event ---- */

/* False if the event had ended before. */
static bool note(struct reprise_ended *ended, unsigned int lanes)
{
	bool again;

	reprise_lock_take(&lock);
	again = has_ended(ended->event);
	if (!again)
		fill(ended, lanes);
	reprise_lock_give(&lock);
	return !again;
}

/* Drops the reference of the thread that destroys the event. */
bool reprise_ended_is_kept(struct reprise_ended *ended)
{
	bool last;

	reprise_lock_take(&lock);
	last = let_go(ended);
	reprise_lock_give(&lock);
	if (last)
		give_room(ended);
	return !last;
}

/*
 * A handle that is no event's must not be noted: it may be a new event's when it is destroyed
 * later. In a broken context the driver answers with the context's error, so the program's own call
 * is made. While the program captures, the driver is not asked: the query may end a capture that
 * has recorded the event.
 */
static bool may_be_event(CUevent event)
{
	CUstreamCaptureMode mode;
	int entered = reprise_enter();
	CUresult state;
	bool may_be = reprise_program_captures_any();

	if (!may_be) {
		mode = reprise_driver_begin_relaxed();
		state = reprise_driver.cuEventQuery(event);
		may_be = state == CUDA_SUCCESS || state == CUDA_ERROR_NOT_READY;
		reprise_driver_end_relaxed(mode);
	}
	reprise_leave(entered);
	return may_be;
}

bool reprise_ended_note(CUevent event, CUresult *result, struct reprise_ended **noted)
{
	unsigned int lanes = count_lanes(event);
	struct reprise_ended *ended;

	*result = CUDA_SUCCESS;
	*noted = NULL;
	if (event == NULL || lanes == 0 || !may_be_event(event))
		return false;
	ended = take_room(event, lanes);
	if (ended == NULL)
		return true; /* without memory for it, the event stays until its context ends */
	if (!note(ended, lanes)) {
		give_room(ended);
		*result = CUDA_ERROR_INVALID_HANDLE;
		return true;
	}
	*noted = ended;
	return true;
}

/* ---- what lanes forget ---- */

static void destroy(const struct reprise_lane *lane, struct reprise_ended *ended)
{
	int entered = reprise_enter();
	bool pushed = reprise_driver_make_current(lane->context);

	reprise_driver.cuEventDestroy_v2(ended->event);
	reprise_driver_restore_current(pushed);
	reprise_leave(entered);
	give_room(ended);
}

/* False if the builder is building a graph that names it. */
static bool forget(struct reprise_lane *lane, CUevent event)
{
	if (!reprise_lane_forget_event(lane, event))
		return false;
	if (lane->group != NULL)
		reprise_group_forget_event(lane->group, event);
	reprise_known_unlearn(&lane->events, event);
	return true;
}

/* An entry that names the lane stays in the list while the lane's lock is held. */
void reprise_ended_forget(struct reprise_lane *lane)
{
	struct reprise_ended *ended, *after;
	bool forgotten, last;

	reprise_lock_take(&lock);
	ended = next_of(lane, events);
	reprise_lock_give(&lock);
	for (; ended != NULL; ended = after) {
		forgotten = forget(lane, ended->event);
		reprise_lock_take(&lock);
		after = next_of(lane, ended->next);
		if (forgotten) {
			*entry_of(ended, lane) = NULL;
			atomic_fetch_sub(&lane->ended, 1);
		}
		last = forgotten && let_go(ended);
		reprise_lock_give(&lock);
		if (last)
			destroy(lane, ended);
	}
}

void reprise_ended_reset(void)
{
	atomic_store(&lock.word, 0);
	events = NULL;
	atomic_store(&spare.taken, false);
}
