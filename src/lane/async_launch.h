/*
 * Async launch: the launch thread (workers/launcher.c) launches graphs of complete visits.
 *
 * If the program and not the GPU takes the time, a launch costs the program's time. If the program
 * is also far from its next wait, a complete visit becomes a pending launch (pending.h). The launch
 * thread launches it at its next look. Until then its ops are deferred ops under the hold limit: a
 * thread that issues anything on the lane, or lets a call observe it, makes the pending launches
 * first.
 */
#pragma once

#include "base/worker.h"
#include "lane/lane.h"

extern struct reprise_worker reprise_async_launch_worker; /* workers/launcher.c */

/* Decides whether the followed trace's complete visit is for the launch thread. Call once for each
 * visit: it counts. Under the lane's lock. */
bool reprise_async_launch_decide(struct reprise_lane *lane);

/* Before the first visit: starts the launch thread, unless REPRISE_SUBMIT forbids it. */
void reprise_async_launch_begin(void);

/* Starts the launch thread if it is not running. False if there can be none. */
bool reprise_async_launch_ensure(void);

/* A launch is pending. A load while the thread is awake. */
void reprise_async_launch_wake(void);
