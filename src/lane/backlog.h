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
#pragma once

#include "base/tuning.h"
#include "lane/lane.h"

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
