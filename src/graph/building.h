/* Requests to the builder, a thread that does a little work at a time (workers/builder.c). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/worker.h"

struct reprise_graph;

/* The builder, and a thread that works in its place (base/gate.h), sleep on its `calls`. */
extern struct reprise_worker reprise_builder;

/* Starts the builder before the first graph is wanted. */
void reprise_graph_building_begin(void);

/* Queues a graph that is EMPTY or FAILED; starts the builder if needed. FAILED if there can be no
 * thread or the queue is full. */
void reprise_graph_build(struct reprise_graph *graph);

/* A lane found no host memory (base/store.h): the builder gives up traces until there is some. */
void reprise_graph_want_host_room(void);
/* By the builder: whether host memory is wanted; after a try, whether to go on. */
bool reprise_graph_host_room_is_wanted(void);
void reprise_graph_host_room_done(bool more);

/* Has the builder give up what can never be used again. */
void reprise_graph_want_cleanup(void);
/* The same by the builder itself, which need not be woken. */
void reprise_graph_want_cleanup_later(void);
/* By the builder: true if that was asked for since the last call. */
bool reprise_graph_take_cleanup(void);

/* Between these two calls no graph is built, and graphs may be taken out of the queue. The first
 * takes `compiling`; it waits for the graph in work, about a millisecond. */
void reprise_graph_building_pause(void);
void reprise_graph_building_resume(void);

/* At exit: stops building. Waits `patience_ns` at most for the graph in work. */
void reprise_graph_building_stop(uint64_t patience_ns);

/* After fork, in the child: there is no thread, and the queue is empty. */
void reprise_graph_building_reset(void);
