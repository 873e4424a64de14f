/*
 * Everything that is counted, once: name in reports, and what it counts.
 *
 * Counters are process-wide and relaxed: a report reads them, nothing else does. Ops are counted by each lane for itself
 * and added up by the report.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define REPRISE_COUNTERS(X) \
	X(graphs_built, "executable graphs instantiated") \
	X(graph_nodes, "their nodes") \
	X(graphs_destroyed, "executable graphs destroyed again") \
	X(build_ns, "time spent building them, in the background") \
	X(build_failed_capture, "builds given up: an op could not be captured, or the capture was invalidated") \
	X(build_failed_instantiate, "builds given up: instantiate or upload failed") \
	X(build_failed_room, "builds given up: the graph alone would take more memory than graphs may") \
	X(capture_longest_ns, "longest capture of the building thread") \
	X(instantiate_longest_ns, "longest instantiation") \
	X(upload_longest_ns, "longest upload") \
	X(destroy_longest_ns, "longest destruction of a graph") \
	X(updates, "whole-graph updates") \
	X(updates_refused, "whole-graph updates that the driver refused") \
	X(updates_failed, "whole-graph updates that could not be captured") \
	X(node_updates, "single nodes set") \
	X(node_updates_failed, "single nodes that the driver would not set") \
	X(launches_failed, "graph launches that failed, done eagerly instead") \
	X(rooms_made, "times that graphs were given up because there was no memory for the program") \
	X(threads_failed, "threads of ours that could not be had when there was something to do") \
	X(private_streams_failed, "private streams that could not be had") \
	X(hold_flushes, "lanes issued by the hold limit") \
	X(hold_overruns, "of these, begun later than the limit") \
	X(hold_begun_ns, "longest time until the hold limit began to issue") \
	X(hold_longest_ns, "longest time until it had issued all: the driver's own time for each op included") \
	X(program_captures, "captures that the program made itself") \
	X(lifetimes, "calls that ended something traces may refer to")

enum reprise_counter {
#define X(name, text) REPRISE_COUNT_##name,
	REPRISE_COUNTERS(X)
#undef X
	REPRISE_COUNTER_COUNT
};

extern _Atomic uint64_t reprise_counters[REPRISE_COUNTER_COUNT];

static inline void reprise_count(enum reprise_counter counter, uint64_t amount)
{
	atomic_fetch_add_explicit(&reprise_counters[counter], amount, memory_order_relaxed);
}

static inline void reprise_count_most(enum reprise_counter counter, uint64_t value)
{
	if (value > atomic_load_explicit(&reprise_counters[counter], memory_order_relaxed))
		atomic_store_explicit(&reprise_counters[counter], value, memory_order_relaxed);
}
