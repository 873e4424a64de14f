/* The side exit: a followed trace is left before its end, and what was deferred is issued eagerly,
 * in order. Under the lane's lock. */
#pragma once

#include "lane/lane.h"

/* Leaves the followed trace, if there is one. Any context may be current. */
void reprise_lane_side_exit(struct reprise_lane *lane, enum reprise_exit why);

/*
 * Issues the ops of this visit before op `count` one by one; returns what the driver answered to
 * the last. What it refused of the others is kept (errors.h). The lane's context is current.
 */
CUresult reprise_lane_issue(struct reprise_lane *lane, unsigned int count);

/* The program has paused for longer than was planned for. True if it does so here so often that the
 * trace should end here; each visit counts once. */
bool reprise_lane_note_pause(struct reprise_lane *lane);

/* The hold limit strikes, or the program pauses: issues what has been deferred of the followed
 * trace, which is `split` here. Any context may be current. */
void reprise_lane_issue_held(struct reprise_lane *lane, bool split);

/* Somebody who must not wait for it wants it issued. Any context may be current. */
void reprise_lane_issue_wanted(struct reprise_lane *lane);
