/* Drawings of graphs as the driver sees them, for Graphviz (REPRISE_DOT). By the builder. */
#pragma once

#include "graph/graph.h"

/* Draws a graph that was just built into a new file. Each only once, and a limited number. */
void reprise_graph_draw(struct reprise_graph *graph);
