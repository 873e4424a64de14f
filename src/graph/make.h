/* Making one graph: first in quiescence (workers/quiescence.h), then the rest. By the builder, with
 * `compiling` held and the graph's context current, and no other. */
#pragma once

#include "graph/graph.h"

/* Captures and instantiates, in quiescence. READY, FAILED, or QUEUED to be tried again. */
enum reprise_graph_state reprise_make(struct reprise_graph *graph);

/* Makes the graph ready for launches. READY or FAILED. */
enum reprise_graph_state reprise_make_ready(struct reprise_graph *graph);

/* Draws a graph that was just built into a new file, for Graphviz (REPRISE_DOT; draw.c). Each only
 * once, and a limited number. */
void reprise_graph_draw(struct reprise_graph *graph);
