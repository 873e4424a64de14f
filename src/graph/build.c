/*
 * Building graphs: one background thread takes queued graphs, makes room for each, waits for a lull (lull.h), captures its ops and instantiates while that
 * lasts, uploads, publishes; and destroys what was given up. It rests as its budget says (budget.h).
 *
 * `compiling` is held from taking a graph off the queue until it is published, and while some are destroyed. No launch of the program's ever takes it.
 */
#include <stddef.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/inside.h"
#include "../base/lock.h"
#include "../base/log.h"
#include "../base/store.h"
#include "../base/thread.h"
#include "../driver/driver.h"
#include "../report/counters.h"
#include "../timeline/timeline.h"
#include "budget.h"
#include "capture.h"
#include "cost.h"
#include "draw.h"
#include "exclusion.h"
#include "ledger.h"
#include "queue.h"
#include "shadow.h"

#define PATIENCE_NS 200000u /* for the program to leave a call during which nothing may be captured; there is nothing to do that it could wait for */
#define SWEPT_AT_ONCE 4

static struct reprise_lock compiling;
static struct reprise_lock start_lock;
static _Atomic uint32_t work; /* counts what there was to do; the thread sleeps on it */
static _Atomic bool wanted;   /* host memory, by a lane that found none */
static _Atomic bool untidy;   /* somebody asked for reprise_graph_tidy() */
static _Atomic bool stopped;
static bool started;

reprise_graph_make_room reprise_graph_evict;
bool (*reprise_graph_tidy)(void);

/* A graph runs with the priority of the stream that it is launched into, unless it is told that its nodes have their own (cuGraphInstantiate). */
static unsigned int flags_for(const struct reprise_graph *graph)
{
	for (unsigned int i = 0; i < graph->count; i++)
		if (reprise_op_has_priority(&graph->ops[i]))
			return CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
	return 0;
}

/* One of the driver's own calls begins. */
struct step {
	uint64_t ns, ticks; /* the latter for the timeline */
};

static struct step begin_step(void)
{
	return (struct step){reprise_clock_ns(), reprise_timeline_begin()};
}

/* It ends. */
static void end_step(const struct reprise_graph *graph, struct step step, enum reprise_counter longest, enum reprise_timeline_kind kind)
{
	reprise_count_most(longest, reprise_clock_ns() - step.ns);
	reprise_timeline_end(kind, step.ticks,
	                     (struct reprise_timeline_about){.lane = REPRISE_TIMELINE_NO_LANE, .graph = graph->number, .ops = graph->count});
}

static bool instantiate(struct reprise_graph *graph)
{
	struct step step = begin_step();
	CUresult result = reprise_driver.cuGraphInstantiateWithFlags(&graph->executable, graph->graph, flags_for(graph));

	end_step(graph, step, REPRISE_COUNT_instantiate_longest_ns, REPRISE_TIMELINE_INSTANTIATE);
	return result == CUDA_SUCCESS;
}

static bool upload(const struct reprise_graph *graph)
{
	struct step step = begin_step();
	CUstream through = reprise_workshop_stream(graph->workshop, REPRISE_FOR_BUILDING, graph->ops[0].member);
	CUresult result = reprise_driver.cuGraphUpload(graph->executable, through);

	end_step(graph, step, REPRISE_COUNT_upload_longest_ns, REPRISE_TIMELINE_UPLOAD);
	return result == CUDA_SUCCESS;
}

/* Whether the graph fits in the memory that graphs may take, once as many of the others as need be have gone. */
static bool make_room(const struct reprise_graph *graph)
{
	while (!reprise_ledger_has_room(graph->count))
		if (reprise_graveyard_sweep(1) == 0 && !reprise_graph_evict(false))
			return false;
	return true;
}

static bool capture(struct reprise_graph *graph)
{
	struct step step = begin_step();

	graph->graph = reprise_capture(graph, REPRISE_FOR_BUILDING, NULL, NULL, graph->nodes);
	end_step(graph, step, REPRISE_COUNT_capture_longest_ns, REPRISE_TIMELINE_CAPTURE);
	return graph->graph != NULL;
}

static enum reprise_graph_state failed(enum reprise_counter counter)
{
	reprise_count(counter, 1);
	return REPRISE_GRAPH_FAILED;
}

/* In a lull. READY once it has an executable graph; QUEUED if now is not the time. */
static enum reprise_graph_state make(struct reprise_graph *graph)
{
	bool captured;

	if (!reprise_workshop_open(graph))
		return REPRISE_GRAPH_FAILED;
	if (!reprise_capture_enter_soon(PATIENCE_NS))
		return REPRISE_GRAPH_QUEUED;
	captured = capture(graph);
	reprise_capture_leave();
	if (!captured)
		return failed(REPRISE_COUNT_build_failed_capture);
	return instantiate(graph) ? REPRISE_GRAPH_READY : failed(REPRISE_COUNT_build_failed_instantiate);
}

static void unmake(struct reprise_graph *graph)
{
	if (graph->executable != NULL)
		reprise_driver.cuGraphExecDestroy(graph->executable);
	if (graph->graph != NULL)
		reprise_driver.cuGraphDestroy(graph->graph);
	graph->executable = NULL;
	graph->graph = NULL;
}

static enum reprise_graph_state make_in_lull(struct reprise_graph *graph)
{
	enum reprise_graph_state state;
	uint64_t begin = reprise_clock_ns();

	if (!reprise_lull_begin(&graph->workshop->lull))
		return REPRISE_GRAPH_QUEUED;
	state = make(graph);
	reprise_lull_end();
	reprise_count_most(REPRISE_COUNT_lull_longest_ns, reprise_clock_ns() - begin);
	return state;
}

/* Leaves it QUEUED if now is not the time. */
static enum reprise_graph_state build(struct reprise_graph *graph)
{
	struct reprise_ledger_reading reading = reprise_ledger_read_before();
	enum reprise_graph_state state = make_in_lull(graph);

	if (state == REPRISE_GRAPH_READY && !upload(graph))
		state = failed(REPRISE_COUNT_build_failed_instantiate);
	if (state != REPRISE_GRAPH_READY) {
		unmake(graph);
		return state;
	}
	reprise_shadow_read(graph, graph->nodes);
	reprise_ledger_read_after(&reading, graph->count);
	reprise_ledger_add(graph->count);
	graph->mixed = false;
	reprise_count(REPRISE_COUNT_graphs_built, 1);
	reprise_count(REPRISE_COUNT_graph_nodes, graph->count);
	return REPRISE_GRAPH_READY;
}

/* There is room for it. */
static enum reprise_graph_state build_with_room(struct reprise_graph *graph)
{
	static uint32_t numbers;
	uint64_t begin = reprise_clock_ns(), begun_at = reprise_timeline_begin();
	enum reprise_graph_state state;

	if (graph->number == 0)
		graph->number = ++numbers;
	state = build(graph);
	if (state != REPRISE_GRAPH_READY)
		return state;
	reprise_cost_took(REPRISE_COST_build, reprise_clock_ns() - begin, graph->count);
	reprise_timeline_end(REPRISE_TIMELINE_BUILD, begun_at,
	                     (struct reprise_timeline_about){.lane = REPRISE_TIMELINE_NO_LANE, .graph = graph->number, .ops = graph->count});
	reprise_graph_draw(graph);
	return state;
}

/* Its own context is the only one that is current while it is built. */
static enum reprise_graph_state build_in_its_time(struct reprise_graph *graph)
{
	if (reprise_lull_is_far(&graph->workshop->lull))
		return REPRISE_GRAPH_QUEUED;
	if (!make_room(graph))
		return failed(REPRISE_COUNT_build_failed_room);
	return reprise_driver.cuCtxSetCurrent(graph->workshop->context) == CUDA_SUCCESS ? build_with_room(graph) : REPRISE_GRAPH_FAILED;
}

/* Builds one graph, if there is one. In *pause how long to wait before the next, if it was not its time yet. */
static bool build_next(uint64_t *pause)
{
	struct reprise_graph *graph;

	reprise_lock_take(&compiling);
	graph = atomic_load(&stopped) ? NULL : reprise_queue_take();
	if (graph != NULL) {
		int state = build_in_its_time(graph);

		if (state == REPRISE_GRAPH_QUEUED) {
			*pause = reprise_lull_pause_ns(&graph->workshop->lull);
			if (!reprise_queue_put_back(graph))
				state = REPRISE_GRAPH_FAILED;
		}
		if (state != REPRISE_GRAPH_QUEUED)
			atomic_store_explicit(&graph->state, state, memory_order_release);
	}
	reprise_lock_give(&compiling);
	return graph != NULL;
}

/* Destroys some of what was given up, if there is any. */
static bool sweep_some(void)
{
	unsigned int destroyed;

	reprise_lock_take(&compiling);
	destroyed = atomic_load(&stopped) ? 0 : reprise_graveyard_sweep(SWEPT_AT_ONCE);
	reprise_lock_give(&compiling);
	return destroyed > 0;
}

/* A lane found no host memory: traces go, the least recently used first, until there is some again. True if there was one to go. */
static bool make_host_room(void)
{
	bool evicted = false;

	if (!atomic_load(&wanted))
		return false;
	reprise_lock_take(&compiling);
	if (!atomic_load(&stopped) && reprise_store_is_short())
		evicted = reprise_graph_evict(true);
	reprise_lock_give(&compiling);
	atomic_store(&wanted, evicted);
	return evicted;
}

static bool tidy(void)
{
	bool any;

	if (!atomic_load(&untidy) || !atomic_exchange(&untidy, false))
		return false;
	reprise_lock_take(&compiling);
	any = !atomic_load(&stopped) && reprise_graph_tidy();
	reprise_lock_give(&compiling);
	return any;
}

/* One piece of what there is to do. False if there was nothing. In *pause how long to wait before the next, budget or not. */
static bool work_on(struct reprise_budget *budget, uint64_t *pause)
{
	uint64_t begin = reprise_clock_ns(), spent;
	bool did = tidy() || make_host_room() || build_next(pause);

	did = sweep_some() || did;
	spent = reprise_clock_ns() - begin;
	reprise_budget_spend(budget, spent);
	reprise_count(REPRISE_COUNT_build_ns, did ? spent : 0);
	return did;
}

static void *run(void *unused)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	struct reprise_budget budget;
	uint64_t rest;

	reprise_inside = REPRISE_INSIDE_FOR_GOOD; /* this thread only ever speaks to the real driver */
	reprise_driver.cuThreadExchangeStreamCaptureMode(&mode);
	reprise_budget_begin(&budget, reprise_clock_ns());
	while (!atomic_load(&stopped)) {
		uint32_t seen = atomic_load(&work);
		uint64_t pause = 0;

		if (!work_on(&budget, &pause) || pause > 0)
			reprise_futex_wait(&work, seen, pause);
		while (!atomic_load(&stopped) && (rest = reprise_budget_rest(&budget, reprise_clock_ns())) > 0)
			reprise_futex_wait(&work, atomic_load(&work), rest);
	}
	return NULL;
}

/* True if the thread is there. */
static bool start(void)
{
	bool there;

	reprise_lock_take(&start_lock);
	started = started || reprise_thread_start(run, "reprise-build");
	there = started;
	reprise_lock_give(&start_lock);
	if (!there)
		reprise_count(REPRISE_COUNT_threads_failed, 1);
	return there;
}

static void wake(void)
{
	atomic_fetch_add(&work, 1);
	reprise_futex_wake(&work);
}

void reprise_graph_build(struct reprise_graph *graph)
{
	if (start() && reprise_queue_push(graph))
		wake();
	else
		atomic_store_explicit(&graph->state, REPRISE_GRAPH_FAILED, memory_order_relaxed);
}

void reprise_graph_want_host_room(void)
{
	if (start() && !atomic_exchange(&wanted, true))
		wake();
}

void reprise_graph_want_tidy(void)
{
	if (start() && !atomic_exchange(&untidy, true))
		wake();
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
	reprise_queue_reset();
	reprise_graveyard_reset();
	reprise_ledger_reset();
	started = false;
	atomic_store(&wanted, false);
	atomic_store(&untidy, false);
	atomic_store(&compiling.word, 0);
	atomic_store(&start_lock.word, 0);
	atomic_store(&stopped, false);
}
