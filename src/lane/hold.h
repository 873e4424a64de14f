/*
 * The hold limit: nothing stays deferred for longer than the user allows (invariant 4). Here is
 * since when a lane holds ops; workers/hold.c has the threads that look.
 */
#pragma once

#include <stdbool.h>

#include "base/worker.h"
#include "trace/plan.h"
#include "lane/lane.h"

extern struct reprise_worker reprise_hold_worker;

/* Before anything may be deferred: starts the thread. False if there can be none, so that nothing
 * may be. */
bool reprise_hold_ensure(void);

/*
 * The lane's first op of this visit has just been deferred. Under the lane's lock. A load while the
 * thread is awake, which it is as long as the program goes on deferring; otherwise wakes it.
 */
void reprise_hold_begin(struct reprise_lane *lane);

/* Something has been queued. A load while the thread is awake. */
void reprise_hold_wake(void);

/* What the lane holds is issued soon, by a thread of ours. Any thread, no lock needed. */
void reprise_hold_want(struct reprise_lane *lane);

/* The lane defers nothing any more. Under its lock; `cursor` still says how many ops it was. */
void reprise_hold_end(struct reprise_lane *lane);

/* For the timeline: so many ops were held from `since` until now. The spans of a lane do not
 * overlap; lanes that share the last number have none. Nothing is queued, or under the queue's
 * lock. */
void reprise_hold_tell(struct reprise_lane *lane, uint64_t since, unsigned int ops);

/* A visit has begun, or what was queued has been launched: says anew since when anything has been
 * deferred. Under the lane's lock. */
void reprise_hold_again(struct reprise_lane *lane);

#define REPRISE_HOLD_PAUSE_NS (2 * REPRISE_PLAN_EVEN_SPAN_NS)

/* What has been deferred for so long is issued; waking up and issuing take the rest of the limit.
 */
static inline uint64_t reprise_hold_due(uint64_t limit_ns)
{
	return limit_ns * 5 / 8;
}

/* And for so long: the program pauses longer than the trace was planned for. If it does so again
 * and again, it is issued, and the trace ends there. */
static inline uint64_t reprise_hold_pause(uint64_t limit_ns)
{
	uint64_t pause = limit_ns * 5 / 16; /* longer than a fork may take (trace/plan.h), */

	if (pause < REPRISE_HOLD_PAUSE_NS)
		pause = REPRISE_HOLD_PAUSE_NS; /* and twice as long as any other trace is planned for */
	return pause < reprise_hold_due(limit_ns) ? pause : reprise_hold_due(limit_ns);
}
