/*
 * Making room: one limit for all lanes, so that a lane that has stopped gives way to one that runs.
 */
#pragma once

#include <stdbool.h>

/*
 * Gives up the trace that was least recently used of all. `host`: host memory is wanted, so what
 * lanes watched that have been still for a second goes first. False if there was nothing to give
 * up. As reprise_graph_evict (graph/graph.h).
 */
bool reprise_lanes_evict(bool host);
