/*
 * How one graph is made: first what has to be done in a lull (lull.h), then the rest. By the
 * building thread, with `compiling` held and the graph's context current, and no other.
 */
#pragma once

#include "graph/graph.h"

/* Captures and instantiates. READY once there is an executable graph, FAILED, or QUEUED if now is
 * not the time. In a lull. */
enum reprise_graph_state reprise_make(struct reprise_graph *graph);

/* Makes it ready to be launched. READY or FAILED. */
enum reprise_graph_state reprise_make_ready(struct reprise_graph *graph);
