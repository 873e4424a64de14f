/*
 * All counters, once: name in reports, and what is counted.
 *
 * Counters are process-wide, and their atomics relaxed: only a report reads them. Each lane counts
 * its own ops, and the report adds them up.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define REPRISE_COUNTERS(X) \
	X(graphs_built, "executable graphs instantiated") \
	X(graph_nodes, "their nodes") \
	X(graphs_drawn, "of these, drawn for graphviz") \
	X(graphs_destroyed, "executable graphs destroyed again") \
	X(build_ns, "time spent building them, in the background") \
	X(functions_behind, \
	  "launches that were eager because a stream had too many unfinished host functions") \
	X(quiescence_missed, "builds put off because the device had work to do") \
	X(quiescence_longest_ns, "longest time that launches waited at the gate for a build") \
	X(build_failed_capture, \
	  "builds given up: a launch could not be captured, or the capture was invalidated") \
	X(build_failed_instantiate, "builds given up: instantiate or upload failed") \
	X(build_failed_attributes, \
	  "builds given up: the capture stream could not get the attributes of the stream") \
	X(build_failed_room, \
	  "builds given up: the graph alone would take more memory than graphs may") \
	X(build_failed_neighbours, \
	  "builds given up: a graph of one launch, while the device may have another context") \
	X(capture_longest_ns, "longest capture of the building thread") \
	X(instantiate_longest_ns, "longest instantiation") \
	X(upload_longest_ns, "longest upload") \
	X(destroy_longest_ns, "longest destruction of a graph") \
	X(updates, "whole-graph updates") \
	X(update_ns, "time spent on them, on the program's threads; on those refused too") \
	X(updates_failed, "whole-graph updates that could not be captured") \
	X(updates_refused, "whole-graph updates that the driver refused:") \
	X(refused_topology, "of these, because of the count of nodes or their edges") \
	X(refused_node_type, "because of another type of node") \
	X(refused_function, \
	  "because of a function of another context, or one that launches from the device") \
	X(refused_parameters, "because of memory of another kind or context, or other dimensions") \
	X(refused_attributes, "because of launch attributes") \
	X(refused_unsupported, "because a node cannot be updated at all") \
	X(refused_otherwise, "for another reason") \
	X(node_patches, "replays for which single nodes were set") \
	X(node_updates, "single nodes set") \
	X(node_update_ns, "time spent on them, on the program's threads") \
	X(node_updates_failed, "single nodes that the driver would not set") \
	X(rebuilds, "graphs given up and built anew: they could not be patched or launched any more") \
	X(recovery_ops, \
	  "most launches from such a failure until what that sequence begins with is replayed again") \
	X(cooldown_returns, "replays of a sequence that had been put aside") \
	X(launches_failed, "graph launches that failed; the calls were issued eagerly instead") \
	X(async_launches, "graphs launched by the launch thread") \
	X(launches_forced, \
	  "pending graphs that a thread of the program launched, because something had to come after them") \
	X(async_patches, \
	  "nodes in all of these that had to be set, or to be updated with their graph") \
	X(memory_shortages, "times that graphs were given up because the program found no memory") \
	X(lanes_merged, \
	  "streams merged into a stream group, because they fork and join again and again") \
	X(groups_split, \
	  "stream groups split: another thread made calls, a stream ended, or nothing was gained") \
	X(group_launches, "launches of graphs that fork over several streams") \
	X(pending_waits_issued, "waits issued for the end of a branch of such a graph") \
	X(group_uncovered, \
	  "times that such a graph was not used, because its first stream was not ordered after the others") \
	X(threads_failed, "threads of Reprise that could not be started when there was work for them") \
	X(private_streams_failed, "capture streams that could not be created") \
	X(hold_flushes, "flushes by the hold limit, or where the program pauses again and again") \
	X(hold_overruns, \
	  "of these, begun later than the limit, which is four times as long in a steady loop unless it is set") \
	X(hold_begun_ns, "longest time until the hold limit began to issue") \
	X(hold_longest_ns, \
	  "longest time until it had issued all: the driver's own time for each call included") \
	X(issued_in_place, \
	  "times that another thread issued what a thread had deferred on its own default stream") \
	X(errors_kept, \
	  "deferred calls that the driver refused; a later wait returns the error to the program") \
	X(errors_told, "of these, told so far") \
	X(paused_ops, \
	  "calls that were eager while Reprise was off, by the program or from outside; not among `ops`") \
	X(unseen_ops, \
	  "launches of what was left eager that Reprise did not look at; among `turn_ops`") \
	X(nvtx_ops, \
	  "calls that were eager within an NVTX range that REPRISE_NVTX_OFF names; not among `ops`") \
	X(program_captures, "captures that the program made itself") \
	X(eager_capturing, "calls that were eager because the program captured; not among `ops`") \
	X(empty_ops, \
	  "copies and memsets of no bytes, which are eager and end no sequence; not among `ops`") \
	X(eager_stopped, "calls that were eager because Reprise had stopped; not among `ops`") \
	X(lifetimes, "calls that ended something which graphs may refer to") \
	X(nodes_verified, \
	  "nodes compared with the call that the program made, before their graph was launched") \
	X(nodes_not_verified, \
	  "nodes that could not be compared, because nothing was kept of the call") \
	X(differences, "differences found") \
	X(records_written, "records written to the recording") \
	X(timeline_events, "events written to the timeline")

enum reprise_counter {
#define X(name, text) REPRISE_COUNT_##name,
	REPRISE_COUNTERS(X)
#undef X
		REPRISE_COUNTER_COUNT
};

/* True if there will be a report. Set when Reprise starts. What costs more than a count is left out
 * otherwise. */
extern bool reprise_reporting;

/* Written by this header's functions, read by reprise_counted(). */
extern _Atomic uint64_t reprise_counters[REPRISE_COUNTER_COUNT];

/* Calls that could be ops, on streams without a lane. Part of a report's ops. */
extern _Atomic uint64_t reprise_ops_without_lane;

/* After fork, in the child. */
void reprise_counters_reset(void);

static inline void reprise_count(enum reprise_counter counter, uint64_t amount)
{
	atomic_fetch_add_explicit(&reprise_counters[counter], amount, memory_order_relaxed);
}

/* What was counted so far. `paused_ops` and `unseen_ops` are counted thread by thread, where no
 * other thread writes (base/gate.h). */
uint64_t reprise_counted(enum reprise_counter counter);

static inline void reprise_count_most(enum reprise_counter counter, uint64_t value)
{
	if (value > atomic_load_explicit(&reprise_counters[counter], memory_order_relaxed))
		atomic_store_explicit(&reprise_counters[counter], value, memory_order_relaxed);
}
