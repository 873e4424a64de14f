/* The hold limit: nothing stays deferred for longer than the user allows (invariant 4). This file
 * notes since when a lane holds ops; workers/hold.c has the hold threads. */
#pragma once

#include <stdbool.h>

#include "base/worker.h"
#include "base/tuning.h"
#include "trace/plan.h"
#include "lane/lane.h"

extern struct reprise_worker reprise_hold_worker;

/* Before anything is deferred: starts the hold thread. False if there can be none: nothing may be
 * deferred then. */
bool reprise_hold_ensure(void);

/* The first op of this visit has just been deferred. Under the lane's lock. A load while the hold
 * thread is awake, which it is while the program goes on deferring; otherwise wakes it. */
void reprise_hold_begin(struct reprise_lane *lane);

/* A launch is pending. A load while the hold thread is awake. */
void reprise_hold_wake(void);

/* Has the hold thread issue soon what the lane holds. Any thread, no lock needed. */
void reprise_hold_want(struct reprise_lane *lane);

/* The same, and waits. True if what the lane holds was issued within the time. The caller does not
 * issue itself: the driver may keep the thread that does. */
bool reprise_hold_issues(struct reprise_lane *lane, uint64_t patience_ns);

/* The lane defers nothing any more. Under its lock; `cursor` still is the number of ops held. */
void reprise_hold_end(struct reprise_lane *lane);

/* For the timeline: `ops` ops were held from `since` until now. The spans of a lane do not overlap;
 * lanes that share the last number have none. No launch is pending, or the queue's lock is held. */
void reprise_hold_tell(struct reprise_lane *lane, uint64_t since, unsigned int ops);

/* A visit has begun, or pending launches were made: sets `deferred_since` anew. Under the lane's
 * lock. */
void reprise_hold_again(struct reprise_lane *lane);

/* Nanoseconds after which the hold thread issues what is deferred. The rest of the limit is for
 * waking up and issuing. */
static inline uint64_t reprise_hold_due(uint64_t limit_ns)
{
	return limit_ns * REPRISE_TUNE_HOLD_DUE / 16;
}

/* Nanoseconds of a pause that is longer than the trace was planned for. If the program pauses so
 * again and again at one op, the deferred ops are issued and the trace is split there. */
static inline uint64_t reprise_hold_pause(uint64_t limit_ns)
{
	uint64_t pause =
		limit_ns * REPRISE_TUNE_HOLD_PAUSE / 16; /* longer than a fork may take (trace/plan.h) */

	if (pause < REPRISE_TUNE_HOLD_PAUSE_NS)
		pause = REPRISE_TUNE_HOLD_PAUSE_NS; /* twice as long as any other trace is planned for */
	return pause < reprise_hold_due(limit_ns) ? pause : reprise_hold_due(limit_ns);
}
