/*
 * Submission: a thread of ours launches the graphs of completed visits in the program's stead.
 *
 * Where the program, rather than the GPU, is what takes the time, and is far from waiting for anything, what a launch takes is the program's time. There a
 * completed visit is added to its lane's queue, and the thread launches what it finds when it looks next. Its ops are deferred ones until then, under the
 * hold limit like any others: whoever is about to issue anything on the lane, or to let somebody observe it, first finishes the queue himself.
 *
 * A trace is settled when its visit is added, and may be followed again at once; but its ops, which are what the queued visit asks, are not changed before
 * that has been launched. Who launches has the queue's lock and may not have the lane's, under which all functions here are called unless they say otherwise.
 */
#pragma once

#include "lane.h"

/* How long the thread sleeps between two looks while it finds anything. */
#define REPRISE_SUBMISSION_PERIOD_NS 100000u

/* Whether the followed trace's visit, which is complete, is one for the thread. Asked once. */
bool reprise_submission_wants(struct reprise_lane *lane);

/* Whether there is the thread: starts it. */
bool reprise_submission_ready(void);

/* Adds the visit. Before the trace is settled: what it wants of the graph is noted. Afterwards: it may be launched. */
void reprise_submission_note(struct reprise_lane *lane);
void reprise_submission_add(struct reprise_lane *lane);

/* Launches all that is queued. `wait`: the host is about to wait for it. Any context may be current. */
void reprise_submission_finish(struct reprise_lane *lane, bool wait);

/* The same, unless another thread is at it. True if nothing is queued any more. */
bool reprise_submission_try_finish(struct reprise_lane *lane);

/* Whether a visit of the trace's is queued. */
bool reprise_submission_has(const struct reprise_lane *lane, const struct reprise_trace *trace);

/* Visits of which the graph could not be launched are counted as such. */
void reprise_submission_note_failures(struct reprise_lane *lane);

static inline void reprise_submission_look_for_failures(struct reprise_lane *lane)
{
	if (__builtin_expect(atomic_load(&lane->queue.failed) != 0, 0))
		reprise_submission_note_failures(lane);
}

/* What the driver answered to ops of queued visits that no graph was launched for; CUDA_SUCCESS from then on. */
CUresult reprise_submission_error(struct reprise_lane *lane);

/* When the first op of what is queued came; 0 if nothing is. */
uint64_t reprise_submission_since(const struct reprise_lane *lane);

/* At exit: the thread does nothing more. No lock is held. */
void reprise_submission_stop(void);

/* After fork, in the child: there is no thread. */
void reprise_submission_reset(void);
