/* The side exit: a followed trace is left before its end, and what was deferred is issued eagerly, in order. Under the lane's lock. */
#pragma once

#include "lane.h"

/* Leaves the followed trace, if there is one. Any context may be current. */
void reprise_lane_leave(struct reprise_lane *lane, enum reprise_exit why);

/* Issues the ops of this visit before op `count` one by one; returns the last result. The lane's context is current. */
CUresult reprise_lane_issue(struct reprise_lane *lane, unsigned int count);

/* The program has paused for longer than was planned for: if it does so here again and again, issues what has been deferred. Any context may be current. */
void reprise_lane_note_pause(struct reprise_lane *lane);

/* Issues what has been deferred for so long that the hold limit strikes. Any context may be current. */
void reprise_lane_hold_limit(struct reprise_lane *lane);
