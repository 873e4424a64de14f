#include "graph/build_queue.h"

#include <stddef.h>

#include "base/lock.h"
#include "base/tuning.h"

/* protects all that follows; `waiting` is read without it, too */
static struct reprise_lock queue_lock;
static struct reprise_graph *newest, *oldest;
static _Atomic unsigned int waiting;
static _Atomic unsigned int unfinished; /* those, and the ones taken and in work */

bool reprise_build_queue_has_room(void)
{
	return atomic_load_explicit(&waiting, memory_order_relaxed) < REPRISE_TUNE_BUILD_QUEUE_MOST;
}

/* Under queue_lock. */
static void link_graph(struct reprise_graph *graph, struct reprise_graph *newer,
                       struct reprise_graph *older)
{
	atomic_store_explicit(&graph->state, REPRISE_GRAPH_QUEUED, memory_order_relaxed);
	graph->newer = newer;
	graph->older = older;
	*(newer != NULL ? &newer->older : &newest) = graph;
	*(older != NULL ? &older->newer : &oldest) = graph;
	atomic_fetch_add(&waiting, 1);
}

bool reprise_build_queue_push(struct reprise_graph *graph)
{
	bool room;

	reprise_lock_take(&queue_lock);
	room = reprise_build_queue_has_room();
	if (room) {
		link_graph(graph, NULL, newest);
		atomic_fetch_add(&unfinished, 1);
	}
	reprise_lock_give(&queue_lock);
	return room;
}

bool reprise_build_queue_put_back(struct reprise_graph *graph)
{
	bool room;

	reprise_lock_take(&queue_lock);
	room = reprise_build_queue_has_room();
	if (room)
		link_graph(graph, oldest, NULL);
	reprise_lock_give(&queue_lock);
	return room;
}

/* Under queue_lock. */
static void unlink_graph(struct reprise_graph *graph)
{
	if (graph->newer != NULL)
		graph->newer->older = graph->older;
	else
		newest = graph->older;
	if (graph->older != NULL)
		graph->older->newer = graph->newer;
	else
		oldest = graph->newer;
	graph->newer = graph->older = NULL;
	atomic_fetch_sub(&waiting, 1);
}

struct reprise_graph *reprise_build_queue_take(void)
{
	struct reprise_graph *graph;

	reprise_lock_take(&queue_lock);
	graph = newest;
	if (graph != NULL)
		unlink_graph(graph);
	reprise_lock_give(&queue_lock);
	return graph;
}

struct reprise_graph *reprise_build_queue_take_of(CUcontext context)
{
	struct reprise_graph *graph;

	reprise_lock_take(&queue_lock);
	graph = newest;
	while (graph != NULL && graph->capture_streams->context != context)
		graph = graph->older;
	if (graph != NULL)
		unlink_graph(graph);
	reprise_lock_give(&queue_lock);
	return graph;
}

/* Under queue_lock. */
static bool is_linked(const struct reprise_graph *graph)
{
	return graph == newest || graph->newer != NULL;
}

bool reprise_build_queue_remove(struct reprise_graph *graph)
{
	bool queued, linked;

	reprise_lock_take(&queue_lock);
	queued = atomic_load_explicit(&graph->state, memory_order_acquire) == REPRISE_GRAPH_QUEUED;
	linked = queued && is_linked(graph);
	if (linked) {
		unlink_graph(graph);
		atomic_store(&graph->state, REPRISE_GRAPH_EMPTY);
		reprise_build_queue_finish();
	}
	reprise_lock_give(&queue_lock);
	return linked || !queued;
}

void reprise_build_queue_finish(void)
{
	atomic_fetch_sub(&unfinished, 1);
}

unsigned int reprise_build_queue_unfinished(void)
{
	return atomic_load(&unfinished);
}

void reprise_build_queue_reset(void)
{
	atomic_store(&queue_lock.word, 0);
	newest = oldest = NULL;
	atomic_store(&waiting, 0);
	atomic_store(&unfinished, 0);
}
