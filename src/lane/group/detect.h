/*
 * Which streams fork and join again and again: one records an event, another waits for it, and the
 * first waits for an event of that one. What is seen here decides what may pay, not what is right;
 * a table of bounded size, in which the newest takes the place of what was there.
 */
#pragma once

#include "lane/lane.h"

/* The call, a record or a wait for an event, was made on the lane's stream, eagerly. Joins lanes
 * that have met often enough. No lock is held. */
void reprise_fork_detect_note(struct reprise_lane *lane, const struct reprise_call *call);

/* After fork, in the child. */
void reprise_fork_detect_reset(void);
