/* The end of a visit: all ops of the trace have come, and the graph takes their place. Under the
 * lane's lock. */
#pragma once

#include "lane/lane.h"

/* Launches the followed trace's graph with this visit's values, or leaves that to the launch
 * thread. If the driver refuses, issues the ops eagerly. Returns the answer to the last op. The
 * lane's context is current. */
CUresult reprise_lane_replay(struct reprise_lane *lane);

/* While observing: the same without launching anything. */
void reprise_lane_replay_observed(struct reprise_lane *lane);
