/*
 * Graphs that wait to be built, the newest first: a program that goes from loop to loop no longer
 * needs the old ones. The queue is bounded: a graph that finds it full is not built, and its ops
 * have to come again.
 *
 * Under a leaf lock of its own. Any thread.
 */
#pragma once

#include "graph/graph.h"

/* Makes the graph QUEUED. False, and nothing is done, if there is no room. */
bool reprise_build_queue_push(struct reprise_graph *graph);

/* The same, behind all others. */
bool reprise_build_queue_put_back(struct reprise_graph *graph);

/* True if there is room. Reads without the lock: a push may still find none. */
bool reprise_build_queue_has_room(void);

/* Takes the newest graph; NULL if there is none. It stays QUEUED. */
struct reprise_graph *reprise_build_queue_take(void);

/* The same among the graphs of that context. */
struct reprise_graph *reprise_build_queue_take_of(CUcontext context);

/* Takes the graph out, if it is in; EMPTY then. False if it is in work: never in a pause. */
bool reprise_build_queue_remove(struct reprise_graph *graph);

/* A graph that was taken is built, or given up, and its state says so. */
void reprise_build_queue_finish(void);

/* Graphs that wait or are in work. Without the lock. */
unsigned int reprise_build_queue_unfinished(void);

/* After fork, in the child. */
void reprise_build_queue_reset(void);
