/*
 * Asking for graphs to be built, and for what else the builder does: a thread that does a little at
 * a time (workers/builder.c).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/worker.h"

struct reprise_graph;

/* Its calls count what there was to do. Who works in its place sleeps on them, too (base/gate.h).
 */
extern struct reprise_worker reprise_builder;

/* Starts the thread, if it is not there: before the first graph is wanted. */
void reprise_graph_building_begin(void);

/*
 * Queues a graph that is EMPTY or FAILED; starts the thread at the first. FAILED if there can be no
 * thread, or too many wait.
 */
void reprise_graph_build(struct reprise_graph *graph);

/* There was no host memory (base/store.h): traces are to be given up until there is some. */
void reprise_graph_want_host_room(void);
/* By the builder: whether there is to be more; and that there is, or that there is still none. */
bool reprise_graph_host_room_is_wanted(void);
void reprise_graph_host_room_done(bool more);

/* What nobody can use any more is to be given up, some time. */
void reprise_graph_want_tidy(void);
/* By the builder: whether that was asked for since it was taken last. */
bool reprise_graph_take_untidy(void);

/*
 * Between these two the builder rests: no graph is being captured, and graphs may be taken out of
 * the queue. Takes the lock `compiling`; waits for the graph in work (about a millisecond).
 */
void reprise_graph_building_pause(void);
void reprise_graph_building_resume(void);

/* At exit: lets the graph in work finish, for so long at most, and builds no more. */
void reprise_graph_building_stop(uint64_t patience_ns);

/* After fork, in the child: there is no thread, and the queue is empty. */
void reprise_graph_building_reset(void);
