/*
 * Graphs that wait to be built, the newest first: a program that goes from loop to loop is done
 * with those that have waited long. There is room for so many; when they come faster than they may
 * be built, the others have to come again.
 *
 * Under a lock of its own, the last in the order. Any thread.
 */
#pragma once

#include "graph/graph.h"

/* The graph is QUEUED. False, and nothing done, if there is no room. */
bool reprise_build_queue_push(struct reprise_graph *graph);

/* The same, but all others are to have their turn first. */
bool reprise_build_queue_put_back(struct reprise_graph *graph);

/* Whether there is room. Without the lock: who pushes then may still find none. */
bool reprise_build_queue_has_room(void);

/* The one to build next; NULL if there is none. It stays QUEUED. */
struct reprise_graph *reprise_build_queue_take(void);

/* The same, but of the graphs of that context. */
struct reprise_graph *reprise_build_queue_take_of(CUcontext context);

/* Takes it out if it is in; EMPTY then. False if it was taken, and is in work: not while building
 * is paused. */
bool reprise_build_queue_remove(struct reprise_graph *graph);

/* One that was taken is made, or not to be made, and says so by now. */
void reprise_build_queue_finish(void);

/* How many were pushed and are not finished, nor removed: those that wait, and those in work.
 * Without the lock. */
unsigned int reprise_build_queue_unfinished(void);

/* After fork, in the child. */
void reprise_build_queue_reset(void);
