/*
 * What lanes, and the end of contexts and of the process, ask of the builder (workers/builder.c).
 *
 * The builder holds `compiling` from taking a graph off the queue until it is published, and while
 * it destroys graphs. No launch of the program's takes this lock.
 */
#include "graph/building.h"

#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/tuning.h"
#include "stats/counters.h"
#include "graph/graph.h"
#include "graph/estimate.h"
#include "graph/build_queue.h"

static struct reprise_lock compiling;
static _Atomic bool wanted; /* a lane found no host memory */
static _Atomic bool untidy; /* something was left that can never be used again */

struct reprise_worker reprise_builder;

/* True if the builder's thread exists. */
static bool start(void)
{
	bool there = reprise_worker_ready(&reprise_builder);

	if (!there)
		reprise_count(REPRISE_COUNT_threads_failed, 1);
	return there;
}

void reprise_graph_building_begin(void)
{
	start();
}

void reprise_graph_build(struct reprise_graph *graph)
{
	if (start() && reprise_build_queue_push(graph))
		reprise_worker_call(&reprise_builder);
	else
		atomic_store_explicit(&graph->state, REPRISE_GRAPH_FAILED, memory_order_relaxed);
}

void reprise_graph_want_host_room(void)
{
	if (start() && !atomic_exchange(&wanted, true))
		reprise_worker_call(&reprise_builder);
}

bool reprise_graph_host_room_is_wanted(void)
{
	return atomic_load(&wanted);
}

void reprise_graph_host_room_done(bool more)
{
	atomic_store(&wanted, more);
}

void reprise_graph_want_cleanup(void)
{
	if (start() && !atomic_exchange(&untidy, true))
		reprise_worker_call(&reprise_builder);
}

void reprise_graph_want_cleanup_later(void)
{
	atomic_store(&untidy, true);
}

bool reprise_graph_take_cleanup(void)
{
	return atomic_load(&untidy) && atomic_exchange(&untidy, false);
}

void reprise_graph_building_pause(void)
{
	reprise_lock_take(&compiling);
}

void reprise_graph_building_resume(void)
{
	reprise_lock_give(&compiling);
}

void reprise_graph_building_stop(uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	reprise_worker_stop(&reprise_builder);
	while (!reprise_lock_try(&compiling)) {
		if (reprise_clock_ns() > end)
			return;
		nanosleep(&(struct timespec){.tv_nsec = REPRISE_TUNE_BUILD_EXIT_LOOK_NS}, NULL);
	}
	reprise_lock_give(&compiling);
}

void reprise_graph_building_reset(void)
{
	reprise_build_queue_reset();
	reprise_reclaim_reset();
	reprise_estimate_reset();
	reprise_worker_reset(&reprise_builder);
	atomic_store(&wanted, false);
	atomic_store(&untidy, false);
	atomic_store(&compiling.word, 0);
}
