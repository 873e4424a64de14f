/*
 * Async launch: the launch thread (workers/launcher.c) launches graphs of complete visits.
 *
 * If the program and not the GPU takes the time, a launch costs the program's time. If the program
 * is also far from its next wait, a complete visit becomes a pending launch (launch.h). The launch
 * thread launches it at its next look. Until then its ops are deferred ops under the hold limit: a
 * thread that issues anything on the lane, or lets a call observe it, makes the pending launches
 * first.
 */
#pragma once

#include "base/tuning.h"
#include "base/worker.h"
#include "lane/lane.h"

extern struct reprise_worker reprise_async_launch_worker; /* workers/launcher.c */

/* Decides whether the followed trace's complete visit is for the launch thread. Call once for each
 * visit: it counts. Under the lane's lock. */
bool reprise_async_launch_decide(struct reprise_lane *lane);

/* Graphs that the launch thread has launched where Reprise decides whether it does; else 0. */
uint64_t reprise_async_launched(void);

/* Whether the program's threads are to launch all graphs, where Reprise decides. */
void reprise_async_launch_direct(bool wanted);

/* Before the first visit: starts the launch thread, unless REPRISE_SUBMIT forbids it. */
void reprise_async_launch_begin(void);

/* Starts the launch thread if it is not running. False if there can be none. */
bool reprise_async_launch_ensure(void);

/* A launch is pending. A load while the thread is awake. */
void reprise_async_launch_wake(void);

/* ---- pace ---- */

/*
 * The program's pace: its time per op where launches cost it nothing, and the time between its
 * waits. Decides whether async launch pays.
 *
 * Under the lane's lock.
 */

/* A visit is complete. */
static inline void reprise_pace_visit(struct reprise_lane *lane)
{
	lane->pace.visits++;
}

/* The host waits for the lane. */
void reprise_pace_wait(struct reprise_lane *lane);

/* The launch thread is about to make pending launches, and found the GPU `busy` or idle. Under the
 * queue's lock instead of the lane's. */
void reprise_pace_look(struct reprise_lane *lane, bool busy);

/* True if the program, not the GPU, takes the time, and is far from its next wait, as far as is
 * known. Call once for each visit: it measures and counts. */
bool reprise_pace_judge(struct reprise_lane *lane);

/* ---- backlog ---- */

/*
 * Host functions that a stream has not done yet. A stream has room for a few dozen of them with
 * work behind each (docs/conformance.md). A graph launch that finds no room waits, and blocks all
 * other calls in the context. The host function may need a mutex whose owner is among those calls;
 * an eager launch would wait alone. So nothing is deferred, and no graph launched, while a launch
 * could find no room.
 *
 * No visit begins while REPRISE_TUNE_BACKLOG_FUNCTIONS host functions may be pending. Each takes at
 * most 2 of the 56 places, as a graph of its own, and a graph of REPRISE_TUNE_PLAN_FUNCTIONS takes
 * one more than it has: 39 of 56 together.
 *
 * Under the lane's lock.
 */

/* Queries the stream, once in a while. True if it is done, so that a visit may begin. */
bool reprise_backlog_ask(struct reprise_lane *lane);

/* True if a visit may begin. The lane's context is current. */
static inline bool reprise_backlog_is_small(struct reprise_lane *lane)
{
	if (__builtin_expect(reprise_backlog_functions(lane) - lane->backlog.functions <
	                         REPRISE_TUNE_BACKLOG_FUNCTIONS,
	                     1))
		return true;
	return reprise_backlog_ask(lane);
}

/* A callback is about to be added to the stream. Takes no lock. */
void reprise_note_callback(CUstream stream, bool per_thread);
