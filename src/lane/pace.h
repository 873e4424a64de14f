/*
 * The program's pace: its time per op where launches cost it nothing, and the time between its
 * waits. Decides whether async launch pays.
 *
 * Under the lane's lock.
 */
#pragma once

#include "lane/lane.h"

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
