#include "lane/ended_events.h"

#include <stdlib.h>

#include "base/inside.h"
#include "driver/current.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "lane/group/group.h"
#include "lane/registry.h"
#include "lane/traces.h"

struct reprise_ended {
	struct reprise_ended *next;
	CUevent event;
	unsigned int
		left; /* of the lanes, and who destroys the event as long as he goes through them */
	unsigned int count;
	struct reprise_lane *lanes[]; /* NULL: has forgotten it */
};

static struct reprise_lock
	lock; /* a leaf; protects the list. A lane is taken out under that lane's lock, too */
static struct reprise_ended *events;

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

/* Where the lane stands, or NULL. */
static struct reprise_lane **place_in(struct reprise_ended *ended, const struct reprise_lane *lane)
{
	for (unsigned int i = 0; i < ended->count; i++)
		if (ended->lanes[i] == lane)
			return &ended->lanes[i];
	return NULL;
}

/* The first from here on that the lane has to forget, or NULL. */
static struct reprise_ended *next_of(const struct reprise_lane *lane, struct reprise_ended *from)
{
	while (from != NULL && place_in(from, lane) == NULL)
		from = from->next;
	return from;
}

/* One less has to do with it. If that was the last, it is taken out, and true. */
static bool let_go(struct reprise_ended *ended)
{
	if (--ended->left > 0)
		return false;
	take_out(ended);
	return true;
}

/* Lanes are parted under their own locks, and forget everything behind that: what is a joint one
 * here is told of all that is noted here. */
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

/* ---- who destroys an event ---- */

/* False if it had ended before. */
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

/* Who destroys it has to do with it no more. */
bool reprise_ended_is_kept(struct reprise_ended *ended)
{
	bool last;

	reprise_lock_take(&lock);
	last = let_go(ended);
	reprise_lock_give(&lock);
	if (last)
		free(ended);
	return !last;
}

/*
 * A handle that is no event's must not be noted, and destroyed later: it may be a new event's by
 * then. In a broken context the program's own call is made, which returns the context's error. The
 * driver is not asked while the program captures, since the question may end a capture that has
 * recorded it.
 */
static bool may_be_event(CUevent event)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	int entered = reprise_enter();
	CUresult state;
	bool may_be = reprise_program_captures_any();

	if (!may_be) {
		reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
		state = reprise_driver.cuEventQuery(event);
		may_be = state == CUDA_SUCCESS || state == CUDA_ERROR_NOT_READY;
		reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
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
	ended = calloc(1, sizeof(*ended) + lanes * sizeof(struct reprise_lane *));
	if (ended == NULL)
		return true; /* without memory for it, it is left to its context */
	ended->event = event;
	if (!note(ended, lanes)) {
		free(ended);
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
	free(ended);
}

/* False if the building thread has a graph in work that names it. */
static bool forget(struct reprise_lane *lane, CUevent event)
{
	if (!reprise_lane_forget_event(lane, event))
		return false;
	if (lane->group != NULL)
		reprise_group_forget_event(lane->group, event);
	reprise_known_unlearn(&lane->events, event);
	return true;
}

/* One that the lane stands in does not go away while the lane's lock is held. */
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
			*place_in(ended, lane) = NULL;
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
}
