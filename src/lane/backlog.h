/*
 * Host functions that a stream has not done yet. A stream has room for a few dozen of them with
 * work behind each (docs/conformance.md). A graph's launch that finds none waits, and keeps
 * everybody else out of the context: also who holds the mutex that the host function wants. The
 * program's own launches would wait alone. So nothing is held back, and no graph launched, while it
 * could find no room. Launches have more room, and wait for it alone as a graph, too.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/*
 * No visit begins while so many host functions may be pending. Each takes two turns of the 56 at
 * most, as a graph of its own, and a graph of REPRISE_PLAN_FUNCTIONS one more than it has: 39
 * of 56.
 */
#define REPRISE_BACKLOG_FUNCTIONS 12u

/* Asks the stream whether all that it was given is done. True if a visit may begin. */
bool reprise_backlog_ask(struct reprise_lane *lane);

/* Whether a visit may begin. The lane's context is current. */
static inline bool reprise_backlog_is_small(struct reprise_lane *lane)
{
	if (__builtin_expect(reprise_backlog_functions(lane) - lane->backlog.functions <
	                         REPRISE_BACKLOG_FUNCTIONS,
	                     1))
		return true;
	return reprise_backlog_ask(lane);
}

/* A callback is about to be added to the stream, whose order is kept. */
void reprise_note_callback(CUstream stream, bool per_thread);
