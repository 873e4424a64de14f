/*
 * The builder: one thread that builds queued graphs and destroys those given up. For each graph it
 * makes room, waits for quiescence (workers/quiescence.h), captures and instantiates in it, uploads
 * and publishes. It rests as its budget says (workers/budget.h).
 *
 * The lock `compiling` (graph/building.c) is held from taking a graph off the queue until the graph
 * is published, and while graphs are destroyed.
 */
#include "workers/workers.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/gate.h"
#include "base/inside.h"
#include "base/options.h"
#include "base/store.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "timeline/timeline.h"
#include "workers/budget.h"
#include "graph/cost.h"
#include "graph/estimate.h"
#include "graph/make.h"
#include "graph/building.h"
#include "graph/build_queue.h"
#include "lane/eager.h"
#include "lane/traces.h"
#include "lane/threads.h"
#include "lane/turns.h"
#include "trace/watch.h"
#include "workers/quiescence.h"

/* True if the graph fits within REPRISE_MEMORY. Gives up other graphs until it does. */
static bool make_room(const struct reprise_graph *graph)
{
	while (!reprise_estimate_has_room(graph->count))
		if (reprise_reclaim_sweep(1) == 0 && !reprise_lanes_evict(false))
			return false;
	return true;
}

/* Gives the graph back to its lane, or puts it back into the queue. */
static void publish(struct reprise_graph *graph, enum reprise_graph_state state)
{
	if (state == REPRISE_GRAPH_QUEUED && reprise_build_queue_put_back(graph))
		return;
	if (state == REPRISE_GRAPH_QUEUED)
		state = REPRISE_GRAPH_FAILED;
	atomic_store_explicit(&graph->state, state, memory_order_release);
	reprise_build_queue_finish();
}

/* Graphs that are made in one quiescence of their context. */
struct batch {
	struct reprise_graph *graphs[REPRISE_TUNE_BUILD_BATCH_MOST];
	enum reprise_graph_state states[REPRISE_TUNE_BUILD_BATCH_MOST];
	unsigned int count;
	unsigned int made, nodes; /* graphs made, and their nodes */
};

/* False if no more graphs can be made now. */
static bool make_next(struct batch *batch, struct reprise_graph *graph)
{
	uint64_t begin = reprise_timeline_begin();
	enum reprise_graph_state state = reprise_make(graph);

	if (state == REPRISE_GRAPH_READY)
		reprise_timeline_end(REPRISE_TIMELINE_BUILD, begin,
		                     (struct reprise_timeline_about){.lane = REPRISE_TIMELINE_NO_LANE,
		                                                     .graph = graph->number,
		                                                     .ops = graph->count});
	batch->graphs[batch->count] = graph;
	batch->states[batch->count++] = state;
	batch->made += state == REPRISE_GRAPH_READY;
	batch->nodes += state == REPRISE_GRAPH_READY ? graph->count : 0;
	return state != REPRISE_GRAPH_QUEUED;
}

/* Another graph of the context for this quiescence. Gives up no traces to make room: that waits for
 * lanes, and their holders may wait for this quiescence to end. */
static struct reprise_graph *take_another(const struct batch *batch, CUcontext context,
                                          uint64_t begin)
{
	struct reprise_graph *graph;

	if (batch->count == REPRISE_TUNE_BUILD_BATCH_MOST ||
	    reprise_clock_ns() - begin > REPRISE_TUNE_BUILD_QUIESCENCE_NS)
		return NULL;
	graph = reprise_build_queue_take_of(context);
	if (graph == NULL ||
	    reprise_estimate_has_room(REPRISE_TUNE_BUILD_BATCH_MARGIN * (batch->nodes + graph->count)))
		return graph;
	publish(graph, REPRISE_GRAPH_QUEUED);
	return NULL;
}

/* False if there was no quiescence or the graph could not be made in it. */
static bool make_in_quiescence(struct batch *batch, struct reprise_graph *graph)
{
	CUcontext context = graph->capture_streams->context;
	uint64_t begin = reprise_clock_ns();

	if (!reprise_quiescence_begin(&graph->capture_streams->quiescence, context))
		return false;
	while (graph != NULL && make_next(batch, graph))
		graph = take_another(batch, context, begin);
	reprise_quiescence_end();
	reprise_count_most(REPRISE_COUNT_quiescence_longest_ns, reprise_clock_ns() - begin);
	return batch->states[0] != REPRISE_GRAPH_QUEUED;
}

/* Finishes the graphs that were made, and publishes all. */
static void finish(struct batch *batch, const struct reprise_estimate_reading *reading,
                   uint64_t begin)
{
	reprise_estimate_read_after(reading, batch->nodes);
	for (unsigned int i = 0; i < batch->count; i++) {
		struct reprise_graph *graph = batch->graphs[i];

		if (batch->states[i] == REPRISE_GRAPH_READY)
			batch->states[i] = reprise_make_ready(graph);
		if (batch->states[i] == REPRISE_GRAPH_READY) {
			reprise_estimate_add(graph->count);
			reprise_graph_draw(graph);
		}
		publish(graph, batch->states[i]);
	}
	if (batch->made > 0)
		reprise_cost_took(REPRISE_COST_build, reprise_clock_ns() - begin, batch->nodes);
}

/* Builds the graph, and others of its context while there is time. The context must be current. */
static bool build_batch(struct reprise_graph *graph)
{
	uint64_t begin = reprise_clock_ns();
	struct reprise_estimate_reading reading = reprise_estimate_read_before();
	struct batch batch = {.count = 0};

	if (!make_in_quiescence(&batch, graph))
		return false;
	finish(&batch, &reading, begin);
	return true;
}

/* False if the graph cannot be built yet. */
static bool build_in_its_time(struct reprise_graph *graph)
{
	if (reprise_quiescence_is_far(&graph->capture_streams->quiescence))
		return false;
	if (!make_room(graph))
		reprise_count(REPRISE_COUNT_build_failed_room, 1);
	else if (reprise_driver.cuCtxSetCurrent(graph->capture_streams->context) == CUDA_SUCCESS)
		return build_batch(graph);
	publish(graph, REPRISE_GRAPH_FAILED);
	return true;
}

/* Builds a queued graph and others with it. False if none is queued. If the graph cannot be built
 * yet, *pause is the time to wait before the next try, in nanoseconds. */
static bool build_next(uint64_t *pause)
{
	struct reprise_graph *graph;

	reprise_graph_building_pause();
	graph = reprise_worker_stopped(&reprise_builder) ? NULL : reprise_build_queue_take();
	if (graph != NULL && !build_in_its_time(graph)) {
		*pause = reprise_quiescence_pause_ns(&graph->capture_streams->quiescence);
		publish(graph, REPRISE_GRAPH_QUEUED);
	}
	reprise_graph_building_resume();
	return graph != NULL;
}

/* True if a graph was destroyed. */
static bool sweep_some(void)
{
	unsigned int destroyed;

	reprise_graph_building_pause();
	destroyed = reprise_worker_stopped(&reprise_builder)
	                ? 0
	                : reprise_reclaim_sweep(REPRISE_TUNE_BUILD_SWEPT);
	reprise_graph_building_resume();
	return destroyed > 0;
}

/* A lane found no host memory: gives up the least recently used trace. True if there was one. */
static bool make_host_room(void)
{
	bool evicted = false;

	if (!reprise_graph_host_room_is_wanted())
		return false;
	reprise_graph_building_pause();
	if (!reprise_worker_stopped(&reprise_builder) && reprise_store_is_short())
		evicted = reprise_lanes_evict(true);
	reprise_graph_building_resume();
	reprise_graph_host_room_done(evicted);
	return evicted;
}

/* True if a lane was given up. *left: another one has to be looked at again. */
static bool tidy(bool *left)
{
	bool any;

	if (!reprise_graph_take_cleanup())
		return false;
	reprise_graph_building_pause();
	any = !reprise_worker_stopped(&reprise_builder) && reprise_threads_clean_up(left);
	reprise_graph_building_resume();
	if (*left)
		reprise_graph_want_cleanup_later();
	return any;
}

/* Builds nothing in the first REPRISE_TUNE_TURN_BUILDS_NS of an eager turn, which would measure it.
 * What is queued is built if the process stays eager for longer: the next replaying turn has it. */
static bool is_measured_eagerly(uint64_t *pause)
{
	uint64_t turn = reprise_eager_turn_ns();

	if (turn == 0 || turn > REPRISE_TUNE_TURN_BUILDS_NS)
		return false;
	*pause = REPRISE_TUNE_TURN_BUILDS_NS - turn + 1;
	return true;
}

/* Does one piece of work. False if there is none, or if calls that may wait are under way: their
 * end wakes the builder. *pause: nanoseconds to wait before the next piece, whatever the budget
 * says. */
static bool work_on(struct reprise_budget *budget, uint64_t *pause)
{
	uint64_t begin = reprise_clock_ns(), spent;
	bool did, left = false;

	if (!reprise_gate_begin_work(&reprise_builder.calls, pause))
		return false;
	*pause = 0;
	did = tidy(&left) || make_host_room() || (!is_measured_eagerly(pause) && build_next(pause));
	did = sweep_some() || did;
	reprise_gate_end_work();
	if (left && !did && (*pause == 0 || *pause > REPRISE_TUNE_BUILD_TIDY_NS))
		*pause = REPRISE_TUNE_BUILD_TIDY_NS;
	spent = reprise_clock_ns() - begin;
	reprise_budget_spend(budget, spent);
	reprise_count(REPRISE_COUNT_build_ns, did ? spent : 0);
	return did;
}

/* True if replaying is measured to gain, or nothing is measured. */
static bool gains(void)
{
	struct reprise_turns_told told = reprise_turns_read();

	return !told.on || told.result.verdict == REPRISE_VERDICT_REPLAY;
}

/* Nanoseconds to rest by the budget; none with REPRISE_PAYS=assumed. */
static uint64_t rest_due(struct reprise_budget *budget)
{
	return reprise_option(REPRISE_OPTION_PAYS) == REPRISE_PAYS_MEASURED
	           ? reprise_budget_rest(budget, reprise_clock_ns(), gains())
	           : 0;
}

static void *run(void *unused)
{
	struct reprise_budget budget;
	uint64_t rest;

	reprise_inside = REPRISE_INSIDE_FOR_GOOD; /* its driver calls bypass the doors */
	reprise_driver_begin_relaxed();
	reprise_budget_begin(&budget, reprise_clock_ns());
	while (!reprise_worker_stopped(&reprise_builder)) {
		uint32_t seen = atomic_load(&reprise_builder.calls);
		uint64_t pause = 0;

		reprise_watch_make_ahead();
		if (!work_on(&budget, &pause) || pause > 0)
			reprise_worker_pause(&reprise_builder, seen, pause);
		while (!reprise_worker_stopped(&reprise_builder) && (rest = rest_due(&budget)) > 0)
			reprise_worker_pause(&reprise_builder, atomic_load(&reprise_builder.calls), rest);
	}
	return NULL;
}

void reprise_builder_define(void)
{
	reprise_worker_define(&reprise_builder, run, "reprise-build");
}
