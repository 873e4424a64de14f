/* The side exit: a visit ends before its last op, and the deferred ops are issued eagerly, in
 * order. Under the lane's lock. */
#pragma once

#include "lane/lane.h"

/* Makes pending launches, and ends the visit of the followed trace, if there is one. Any context
 * may be current. */
void reprise_lane_side_exit(struct reprise_lane *lane, enum reprise_exit why);

/* Issues the ops of this visit before op `count`. Returns the driver's answer to the last; errors
 * of the others are kept (errors.h). The lane's context is current. */
CUresult reprise_lane_issue(struct reprise_lane *lane, unsigned int count);

/* The program has paused for longer than was planned for; each visit counts once. True if it pauses
 * here so often that the trace should be split here. */
bool reprise_lane_note_pause(struct reprise_lane *lane);

/* The hold limit is reached, or the program pauses: a side exit. `split`: splits the trace at the
 * cursor, too. Any context may be current. */
void reprise_lane_issue_held(struct reprise_lane *lane, bool split);

/* A side exit for a query whose thread must not issue itself (lane->wanted). Any context may be
 * current. */
void reprise_lane_issue_wanted(struct reprise_lane *lane);
