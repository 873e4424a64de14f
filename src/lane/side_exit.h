/*
 * The side exit: a visit ends before its last op, and the deferred ops are issued eagerly, in
 * order. And barriers, which make one.
 *
 * Under the lane's lock, unless a function says otherwise.
 */
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

/* ---- barriers ---- */

/* Calls that may observe what a lane holds, or order it. For most of them the door is one
 * assembly stub that reads reprise_attention. A lane counts there from its first op until two
 * barriers come one after the other. */

/* Tells the lane of a barrier, if it has news. Takes its lock. `wait` as below. */
void reprise_lane_tell(struct reprise_lane *lane, bool wait);

/* True if it has news or counts in reprise_attention. Without its lock. */
bool reprise_lane_is_to_be_told(const struct reprise_lane *lane);

/* The functions below: under the lane's lock. Any context may be current. */

/* As reprise_lane_tell(), with the lock held. */
void reprise_lane_told(struct reprise_lane *lane, bool wait);

/* A barrier: issues what is deferred. `wait`: the host waits for the stream, too. Pending waits of
 * a group's members stay pending. */
void reprise_lane_barrier(struct reprise_lane *lane, bool wait);
