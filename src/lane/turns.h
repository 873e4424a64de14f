/*
 * Turns (docs/design/turns.md): the process replays and issues eagerly by turns, and a loop of its
 * own tells which is faster (stats/turns.h). Only where REPRISE_TURNS asks for them.
 *
 * A loop is known by its anchor (anchor.h). Turns begin and end there: the thread follows no trace
 * in that lane then.
 *
 * In an eager turn all calls of the process are eager, as in a pause; traces and graphs stay, and
 * nothing is built. Ops are counted, and lanes are told that they have news, so that they know
 * their place when the turn ends.
 */
#pragma once

#include <stdbool.h>

#include "lane/anchor.h"
#include "lane/lane.h"
#include "stats/turns.h"

/* Set before the first lane is made. */
extern bool reprise_turns_on;

/* Measures from now on. When Reprise starts. */
void reprise_turns_start(void);

/* A synchronising call begins. A query is no wait. */
static inline void reprise_turns_note_wait(enum reprise_sync what)
{
	if (__builtin_expect(reprise_turns_on, 0) && what != REPRISE_SYNC_QUERY &&
	    what != REPRISE_SYNC_EVENT_QUERY && what != REPRISE_SYNC_EVENT_END)
		reprise_anchor_waited = true;
}

/* An op comes that may be the anchor. True if an eager turn begins with it: the call is eager, and
 * reprise_turns_switch() comes before it. Under the lane's lock. */
bool reprise_turns_visit(struct reprise_lane *lane, struct reprise_call *call);

/* An op that the lane follows no trace for comes. As reprise_turns_visit(). */
static inline bool reprise_turns_look(struct reprise_lane *lane, struct reprise_call *call)
{
	return __builtin_expect(reprise_turns_on, 0) && reprise_turns_visit(lane, call);
}

/* Begins the eager turn, before the call. No lock is held. */
void reprise_turns_switch(struct reprise_lane *lane);

/* An op of an eager turn, in a group a record or wait, too. True if nothing is held
 * (reprise_lanes_hold_anything()) and it is no anchor: it was counted, and its call made. *result:
 * the driver's answer. Takes no lock, and does not ask for the current context: an eager call is
 * right in any. What the call loads does not matter, since nothing waits to be issued. */
bool reprise_turns_pass(const struct reprise_call *call, CUresult *result);

/* The same of a kernel's launch where no lane holds and no group is tracked. Knows nothing of the
 * call, so that some pass by the other function alone. Does not make it. */
bool reprise_turns_pass_launch(CUstream stream, bool per_thread);

/* An op of an eager turn, in the lane of its stream. False if the turn ends before it. No lock is
 * held. */
bool reprise_turns_goes_on(struct reprise_lane *lane, const struct reprise_call *call);

/* An op passes unseen (eager.h): counts it. */
void reprise_turns_note_unseen(void);

/* The lane of the anchor, or of the candidate for one. NULL: none. Without the lock. */
const struct reprise_lane *reprise_turns_lane(void);

/* What the report says. */
struct reprise_turns_told {
	bool on;           /* turns are wanted, in mode `on` */
	bool measuring;    /* a loop is measured now; otherwise one is looked for */
	uint64_t since_ns; /* turns have been on for so long */
	struct reprise_turns_result result;
};

/* Any thread. Waits for nothing: `measuring` is false, and the result empty, if the lock is held.
 */
struct reprise_turns_told reprise_turns_read(void);

/* After fork, in the child. */
void reprise_turns_reset(void);
