/* The hold limit: a thread that sees to it that nothing stays deferred for longer than the user allows (invariant 4). */
#pragma once

#include <stdbool.h>

#include "lane.h"

/* Before anything may be deferred: starts the thread. False if there can be none, so that nothing may be. */
bool reprise_hold_ready(void);

/*
 * The lane's first op of this visit has just been deferred. Under the lane's lock. A load while the thread is awake, which it is as long as the
 * program goes on deferring; otherwise wakes it.
 */
void reprise_hold_begin(struct reprise_lane *lane);

/* The lane defers nothing any more. Under its lock; `cursor` still says how many ops it was. */
void reprise_hold_end(struct reprise_lane *lane);

/* At exit: the thread does nothing more. */
void reprise_hold_stop(void);

/* After fork, in the child: there is no thread. */
void reprise_hold_reset(void);
