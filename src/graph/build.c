/*
 * Building graphs: one background thread takes queued graphs in order, captures their ops, instantiates, uploads, publishes.
 *
 * The driver holds a lock of its own while it captures and instantiates, which slows the program's launches: so after a
 * first burst the thread rests until its share of the run's time is small again.
 *
 * `compiling` is held from taking a graph off the queue until it is published; `queue_lock` protects the queue.
 */
#include <stddef.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/inside.h"
#include "../base/lock.h"
#include "../base/log.h"
#include "../base/thread.h"
#include "../driver/driver.h"
#include "../report/counters.h"
#include "capture.h"
#include "cost.h"
#include "exclusion.h"

#define BURST_NS 50000000u /* built without regard to the share */
#define SHARE 20           /* one part in so many of the time since the start */
#define REST_NS 2000000u
#define PATIENCE_NS 2000000u /* for the program to leave a call during which nothing may be captured */

static struct reprise_lock compiling;
static struct reprise_lock queue_lock;
static _Atomic(struct reprise_graph *) first; /* read without the lock to see whether there is any */
static struct reprise_graph *last;
static _Atomic uint32_t work; /* counts what was queued; the thread sleeps on it */
static _Atomic bool stopped;
static bool started;

/* A graph runs with the priority of the stream that it is launched into, unless it is told that its nodes have their own (cuGraphInstantiate). */
static unsigned int flags_for(const struct reprise_graph *graph)
{
	for (unsigned int i = 0; i < graph->count; i++)
		if (reprise_op_has_priority(&graph->ops[i]))
			return CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
	return 0;
}

static bool instantiate(struct reprise_graph *graph)
{
	CUgraphExec executable = NULL;

	if (reprise_driver.cuGraphInstantiateWithFlags(&executable, graph->graph, flags_for(graph)) != CUDA_SUCCESS)
		return false;
	if (reprise_driver.cuGraphUpload(executable, graph->workshop->for_building) != CUDA_SUCCESS) {
		reprise_driver.cuGraphExecDestroy(executable);
		return false;
	}
	graph->executable = executable;
	return true;
}

static enum reprise_graph_state build(struct reprise_graph *graph)
{
	struct reprise_workshop *workshop = graph->workshop;

	if (!reprise_workshop_open(workshop, &workshop->for_building))
		return REPRISE_GRAPH_FAILED;
	if (!reprise_capture_enter_soon(PATIENCE_NS))
		return REPRISE_GRAPH_QUEUED;
	graph->graph = reprise_capture(workshop->for_building, graph->ops, NULL, NULL, graph->count, graph->nodes);
	reprise_capture_leave();
	if (graph->graph == NULL) {
		reprise_count(REPRISE_COUNT_build_failed_capture, 1);
		return REPRISE_GRAPH_FAILED;
	}
	if (!instantiate(graph)) {
		reprise_count(REPRISE_COUNT_build_failed_instantiate, 1);
		reprise_driver.cuGraphDestroy(graph->graph);
		graph->graph = NULL;
		return REPRISE_GRAPH_FAILED;
	}
	graph->mixed = false;
	reprise_count(REPRISE_COUNT_graphs_built, 1);
	reprise_count(REPRISE_COUNT_graph_nodes, graph->count);
	return REPRISE_GRAPH_READY;
}

static struct reprise_graph *take(void)
{
	reprise_lock_take(&queue_lock);

	struct reprise_graph *graph = atomic_load(&first);

	if (graph != NULL)
		atomic_store(&first, graph->next_queued);
	reprise_lock_give(&queue_lock);
	return graph;
}

/* It was not its turn yet. */
static void put_back(struct reprise_graph *graph)
{
	reprise_lock_take(&queue_lock);
	graph->next_queued = atomic_load(&first);
	atomic_store(&first, graph);
	if (graph->next_queued == NULL)
		last = graph;
	reprise_lock_give(&queue_lock);
}

/* Builds one graph, if there is one. Returns how long it took. */
static uint64_t build_next(void)
{
	uint64_t begin = reprise_clock_ns(), spent;

	reprise_lock_take(&compiling);

	struct reprise_graph *graph = atomic_load(&stopped) ? NULL : take();

	if (graph != NULL) {
		CUresult current = reprise_driver.cuCtxSetCurrent(graph->workshop->context);
		int state = current == CUDA_SUCCESS ? build(graph) : REPRISE_GRAPH_FAILED;

		if (state == REPRISE_GRAPH_READY)
			reprise_cost_took(REPRISE_COST_build, reprise_clock_ns() - begin, graph->count);
		if (state == REPRISE_GRAPH_QUEUED)
			put_back(graph);
		else
			atomic_store_explicit(&graph->state, state, memory_order_release);
	}
	if (!atomic_load(&stopped))
		reprise_graveyard_sweep();
	reprise_lock_give(&compiling);
	spent = reprise_clock_ns() - begin;
	if (graph != NULL)
		reprise_count(REPRISE_COUNT_build_ns, spent);
	return spent;
}

static void *run(void *unused)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	uint64_t begin = reprise_clock_ns(), spent = 0;

	reprise_inside = 1; /* for good: this thread only ever speaks to the real driver */
	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	while (!atomic_load(&stopped)) {
		uint32_t seen = atomic_load(&work);

		spent += build_next();
		while (!atomic_load(&stopped) && spent > BURST_NS && spent * SHARE > reprise_clock_ns() - begin)
			reprise_futex_wait(&work, atomic_load(&work), REST_NS);
		if (atomic_load(&first) == NULL)
			reprise_futex_wait(&work, seen, 0);
	}
	return NULL;
}

/* Under the queue's lock. */
static void append(struct reprise_graph *graph)
{
	graph->next_queued = NULL;
	if (atomic_load(&first) == NULL)
		atomic_store(&first, graph);
	else
		last->next_queued = graph;
	last = graph;
}

void reprise_graph_build(struct reprise_graph *graph)
{
	reprise_lock_take(&queue_lock);
	started = started || reprise_thread_start(run, "reprise-build");
	atomic_store_explicit(&graph->state, started ? REPRISE_GRAPH_QUEUED : REPRISE_GRAPH_FAILED, memory_order_relaxed);
	if (started)
		append(graph);
	else
		reprise_count(REPRISE_COUNT_threads_failed, 1);
	reprise_lock_give(&queue_lock);
	atomic_fetch_add(&work, 1);
	reprise_futex_wake(&work);
}

void reprise_graph_building_pause(void)
{
	reprise_lock_take(&compiling);
}

void reprise_graph_building_resume(void)
{
	reprise_lock_give(&compiling);
}

void reprise_graph_unqueue(struct reprise_graph *graph)
{
	struct reprise_graph *before = NULL;

	if (atomic_load(&graph->state) != REPRISE_GRAPH_QUEUED)
		return;
	reprise_lock_take(&queue_lock);
	for (struct reprise_graph *at = atomic_load(&first); at != NULL; before = at, at = at->next_queued) {
		if (at != graph)
			continue;
		if (before != NULL)
			before->next_queued = graph->next_queued;
		else
			atomic_store(&first, graph->next_queued);
		if (last == graph)
			last = before;
		break;
	}
	reprise_lock_give(&queue_lock);
	atomic_store(&graph->state, REPRISE_GRAPH_EMPTY);
}

void reprise_graph_building_stop(uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	atomic_store(&stopped, true);
	while (!reprise_lock_try(&compiling)) {
		struct timespec pause = {.tv_nsec = 50000};

		if (reprise_clock_ns() > end)
			return;
		nanosleep(&pause, NULL);
	}
	reprise_lock_give(&compiling);
}

void reprise_graph_building_reset(void)
{
	atomic_store(&first, NULL);
	last = NULL;
	reprise_graveyard_reset();
	started = false;
	atomic_store(&compiling.word, 0);
	atomic_store(&queue_lock.word, 0);
	atomic_store(&stopped, false);
}
