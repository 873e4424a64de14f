/*
 * Barriers: calls that may observe what a lane holds, or order it. Most of them are one assembly
 * stub, which reads whether any lane is to be told (reprise_attention): a lane counts
 * there from its first op until two barriers come one after the other.
 */
#pragma once

#include "lane/lane.h"

/* Tells the lane of a barrier, if it has news. Takes its lock. */
void reprise_lane_tell(struct reprise_lane *lane, bool wait);

/* Whether it has news, or counts in reprise_attention. Without its lock. */
bool reprise_lane_is_to_be_told(const struct reprise_lane *lane);

/* The functions below: under the lane's lock. Any context may be current. */

/* As reprise_lane_tell(). */
void reprise_lane_told(struct reprise_lane *lane, bool wait);

/* A barrier: issues what is deferred. `wait`: the host waits for the stream too. What streams of a
 * joint lane owe they still owe. */
void reprise_lane_barrier(struct reprise_lane *lane, bool wait);

/* Whether a record of the event is deferred. */
bool reprise_lane_defers(const struct reprise_lane *lane, CUevent event);
