/*
 * Submission: a thread of ours launches the graphs of completed visits in the program's stead.
 *
 * Where the program, rather than the GPU, is what takes the time, and is far from waiting for
 * anything, what a launch takes is the program's time. There a completed visit is added to its
 * lane's queue (queued.h), and the thread launches what it finds when it looks next. Its ops are
 * deferred ones until then, under the hold limit like any others: whoever is about to issue
 * anything on the lane, or to let somebody observe it, first finishes the queue himself.
 */
#pragma once

#include "base/worker.h"
#include "lane/lane.h"

extern struct reprise_worker reprise_async_launch_worker; /* workers/launcher.c */

/* Decides whether the followed trace's visit, which is complete, is one for the thread, and counts
 * that for the next. Once for each visit. Under the lane's lock. */
bool reprise_async_launch_decide(struct reprise_lane *lane);

/* Before the first visit: starts the thread if it may be wanted. */
void reprise_async_launch_begin(void);

/* Starts the thread, unless there is one. False if there can be none. */
bool reprise_async_launch_ensure(void);

/* Something has been queued. A load while the thread is awake. */
void reprise_async_launch_wake(void);
