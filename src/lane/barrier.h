/* Barriers: calls that may observe what a lane holds, or order it. For most of them the door is one
 * assembly stub that reads reprise_attention. A lane counts there from its first op until two
 * barriers come one after the other. */
#pragma once

#include "lane/lane.h"

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

/* True if a record of the event is deferred. */
bool reprise_lane_defers(const struct reprise_lane *lane, CUevent event);
