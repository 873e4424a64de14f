/* The end of a visit: all ops of the trace have come, and the graph takes their place. Under the
 * lane's lock. */
#pragma once

#include "lane/lane.h"

/*
 * Launches the followed trace's graph in this visit's values or, if the driver does not, issues the
 * ops eagerly. Returns what the last of them is to answer. The lane's context is current.
 */
CUresult reprise_lane_replay(struct reprise_lane *lane);

/* In observe: as if it had. */
void reprise_lane_replay_observed(struct reprise_lane *lane);
