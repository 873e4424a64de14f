/*
 * Events that the program has destroyed, and that groups may still name. The driver destroys such
 * an event when no group names it any more.
 *
 * The thread that destroys an event does not wait for the group's lock, and does not issue what the
 * group holds: the driver may keep the lock's holder, or the issuing thread, until this very thread
 * has done something else. So a group forgets the event at its next barrier, or at once if its lock
 * is free and nothing is deferred. Until then the event exists: deferred ops may record it, graphs
 * that name it may be built, and no new event gets its handle. With REPRISE_ENDED_MOST events
 * noted, the next event op there makes a barrier: the thread that calls it may wait.
 */
#pragma once

#include "lane/lane.h"

struct reprise_ended;

/*
 * The program destroys the event. True if a group may name it: it is destroyed later, and *result
 * is the program's answer. False if none does, or if it is no event in a working context: the
 * caller destroys it. If *noted is not NULL, groups whose lock is free may forget it now, and then
 * the caller calls reprise_ended_is_kept(). No lock is held, and what the calling thread had
 * deferred has been issued.
 */
bool reprise_ended_note(CUevent event, CUresult *result, struct reprise_ended **noted);

/* False if all groups have forgotten it by now: the caller destroys it. */
bool reprise_ended_is_kept(struct reprise_ended *ended);

/* The lane forgets ended events, except those in graphs that are being built. Under the lane's
 * lock, with nothing deferred or watched. Any context may be current. */
void reprise_ended_forget(struct reprise_lane *lane);

/* True if the lane may name ended events. The lock need not be held. */
static inline bool reprise_ended_any(const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->ended, memory_order_relaxed) != 0;
}

#define REPRISE_ENDED_MOST 16

/* True if so many have ended that the lane should make a barrier. The lock need not be held. */
static inline bool reprise_ended_many(const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->ended, memory_order_relaxed) >= REPRISE_ENDED_MOST;
}

/* After fork, in the child. */
void reprise_ended_reset(void);
