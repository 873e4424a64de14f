/*
 * Events that have ended for the program, and that joint lanes may still name: the driver destroys
 * one only when none of them does any more.
 *
 * Who destroys an event does not wait for such a lane, nor issue what it holds: the driver may keep
 * who has it, or who issues, until this very thread has done something else. So a lane forgets the
 * event at its next barrier, or at once if it is found free then, with nothing deferred. Until then
 * the event is there: what is deferred may record it, graphs that name it may be built, and its
 * handle is no other one's. Where too many are noted, who records or waits for an event there makes
 * a barrier of that: he may never wait.
 */
#pragma once

#include "lane/lane.h"

struct reprise_ended;

/*
 * The program destroys the event. True if a lane may name it, which is told of it: it is destroyed
 * later, and *result is what the program is told. False: none does, or it is no event in a working
 * context; it is the caller's to destroy. If *noted is not NULL, lanes that are free may forget it
 * now, and reprise_ended_is_kept() comes next. No lock is held, and whatever the calling thread had
 * deferred was issued.
 */
bool reprise_ended_note(CUevent event, CUresult *result, struct reprise_ended **noted);

/* False if all lanes have forgotten it by now: it is the caller's to destroy. */
bool reprise_ended_is_kept(struct reprise_ended *ended);

/* The lane forgets those that have ended, but for what the building thread has in work. Under the
 * lane's lock; nothing is deferred or watched there. Any context may be current. */
void reprise_ended_forget(struct reprise_lane *lane);

/* Whether there may be any. Without the lock, too. */
static inline bool reprise_ended_any(const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->ended, memory_order_relaxed) != 0;
}

#define REPRISE_ENDED_MOST 16

/* Whether so many have ended that the lane should not go on without a barrier. Without the lock,
 * too. */
static inline bool reprise_ended_many(const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->ended, memory_order_relaxed) >= REPRISE_ENDED_MOST;
}

/* After fork, in the child. */
void reprise_ended_reset(void);
