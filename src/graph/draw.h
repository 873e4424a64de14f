/* Drawing: the graph of each trace as the driver sees it, for graphviz (REPRISE_DOT). By the
 * building thread. */
#pragma once

#include "graph/graph.h"

/* Draws a graph that was just built into a new file of its own, unless it was drawn before, or
 * enough were. */
void reprise_graph_draw(struct reprise_graph *graph);
