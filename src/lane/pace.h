/*
 * The program's pace: how long it takes for an op where it launches at no cost, and how long it
 * goes on before it waits. Whether it pays to leave launches to the submission thread is judged by
 * it.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

/* How long the thread sleeps between two looks while it finds anything. */
#define REPRISE_ASYNC_LAUNCH_PERIOD_NS 100000u

/* A visit is complete. */
static inline void reprise_pace_visit(struct reprise_lane *lane)
{
	lane->pace.visits++;
}

/* The host waits for the lane. */
void reprise_pace_wait(struct reprise_lane *lane);

/* The thread is about to launch what was left to it, and the GPU has, or has not, something to do.
 * Under the queue's lock instead. */
void reprise_pace_look(struct reprise_lane *lane, bool busy);

/*
 * Measures, once in a while, and says whether the program, rather than the GPU, is what takes the
 * time, and it is far from a wait, as far as is known. Once for each visit, which it counts.
 */
bool reprise_pace_judge(struct reprise_lane *lane);
