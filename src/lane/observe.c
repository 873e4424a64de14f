#include "lane/observe.h"

#include "base/hash.h"
#include "base/options.h"
#include "base/tuning.h"
#include "op/name.h"
#include "graph/build_queue.h"
#include "graph/building.h"
#include "graph/cost.h"
#include "trace/beside.h"
#include "trace/classes.h"
#include "trace/fork.h"
#include "trace/plan.h"
#include "lane/group/group.h"
#include "lane/group/pieces.h"
#include "lane/hold.h"
#include "lane/launch.h"
#include "lane/registry.h"
#include "lane/traces.h"

/* Builds a graph that failed again, when its ops come again. The cooldown grows each time. */
static void try_again(struct reprise_lane *lane, struct reprise_trace *trace)
{
	if (atomic_load_explicit(&trace->graph.state, memory_order_acquire) != REPRISE_GRAPH_FAILED ||
	    trace->cooldown_until > lane->counts.ops)
		return;
	reprise_trace_begin_cooldown(trace, lane->counts.ops);
	reprise_graph_build(&trace->graph);
}

static bool any_of(const bool *values, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (values[i])
			return true;
	return false;
}

/* What is known of graphs of such ops. */
enum worth {
	NONE, /* they would be for short visits, which do not gain: none is built now */
	OPEN, /* a few are built, to see whether they do */
	MANY,
};

/* `take`: one is wanted. */
static enum worth worth_of(struct reprise_lane *lane, const struct reprise_op *ops,
                           const bool *any_value, unsigned int count, bool take)
{
	bool judged = reprise_visit_is_measured() && !reprise_observing,
		 patched = any_of(any_value, count);
	uint8_t class = judged ? reprise_class_of(ops, count) : 0;

	if (class == 0 || reprise_class_gains(class, patched))
		return MANY;
	if (take ? reprise_class_take_build(class, patched)
	         : reprise_class_wants_builds(class, patched))
		return OPEN;
	reprise_lane_count(&lane->counts.short_not_built, 1);
	reprise_class_passed(class, patched);
	if (reprise_class_rests(class, patched))
		reprise_lane_hasten_backoff(lane, count);
	return NONE;
}

/* Ops that are to be a trace. */
struct run {
	const struct reprise_op *ops;
	const bool *any_value;
	unsigned int count;
	struct reprise_position position;
	bool placed; /* for as many ops behind a wait alone */
	uint32_t gap_ns;
};

/* Makes a trace of the ops and asks for its graph. NULL if that is not worth it, or there is no
 * room. */
static struct reprise_trace *make_trace(struct reprise_lane *lane, const struct run *run)
{
	struct reprise_trace *trace;
	uint64_t kin;

	if (worth_of(lane, run->ops, run->any_value, run->count, true) == NONE)
		return NULL;
	kin = reprise_kin_of(run->ops, run->any_value, run->count);
	if (reprise_visit_is_measured() &&
	    !reprise_kin_take_build(&lane->kin, lane->index, kin, run->ops, run->count)) {
		reprise_lane_count(&lane->counts.kin_not_built, 1);
		return NULL;
	}
	if (run->count > 1 && !reprise_observing && !reprise_hold_ensure())
		return NULL; /* without the hold thread nothing may be deferred */
	if (!reprise_observing && !reprise_build_queue_has_room()) {
		reprise_lane_count(&lane->counts.queue_full, 1);
		return NULL;
	}
	do
		trace = reprise_trace_new(run->ops, run->any_value, run->count, &run->position,
		                          &lane->capture_streams);
	while (trace == NULL && reprise_lane_make_room(lane));
	if (trace == NULL)
		return NULL;
	trace->placed = run->placed;
	trace->gap_ns = run->gap_ns;
	trace->visit_class = reprise_class_of(run->ops, run->count);
	trace->kin = kin;
	reprise_index_add(lane->index, trace);
	reprise_lane_count(&lane->counts.traces, 1);
	if (reprise_observing)
		atomic_store(&trace->graph.state, REPRISE_GRAPH_READY);
	else
		reprise_graph_build(&trace->graph);
	return trace;
}

/* The same, unless there is one already. `beside`: its graph may be launched beside the streams. */
static void add_trace(struct reprise_lane *lane, const struct run *run, bool beside)
{
	struct reprise_trace *trace;

	if (lane->group != NULL &&
	    !reprise_fork_is_closed(run->ops, run->count, lane->group->blocking) &&
	    !(beside && reprise_beside_may(run->ops, run->count, lane->group->blocking)))
		return; /* no graph has the order of these ops */
	trace = reprise_index_same(lane->index, &run->position, run->placed, run->ops, run->count);
	if (trace == NULL) {
		make_trace(lane, run);
		return;
	}
	trace->placed = trace->placed && run->placed;
	try_again(lane, trace);
}

/* The program's mean gap before each of these ops but the first, in nanoseconds. */
static uint32_t mean_gap(const struct reprise_segment *segment, unsigned int start,
                         unsigned int count)
{
	uint64_t sum = 0;

	for (unsigned int i = 1; i < count; i++)
		sum += segment->gaps[start + i];
	return count > 1 ? (uint32_t)(sum / (count - 1)) : 0;
}

struct reprise_position reprise_lane_position_within(const struct reprise_op *ops,
                                                     const bool *any_value, unsigned int start,
                                                     const struct reprise_position *first)
{
	if (start == 0)
		return *first;
	return (struct reprise_position){ops[start - 1].shape,
	                                 any_value[start - 1] ? 0 : ops[start - 1].value,
	                                 first->since_wait + start};
}

void reprise_lane_make_traces(void *context, struct reprise_segment *segment)
{
	struct reprise_lane *lane = context;
	uint64_t hold_ns = reprise_option(REPRISE_OPTION_HOLD) * 1000;
	bool few = reprise_lanes_of_others() >= REPRISE_TUNE_PLAN_CROWD;
	struct reprise_pieces pieces;
	struct run run;

	if (lane->group != NULL && !reprise_pieces_begin(&pieces, lane, segment, hold_ns))
		return;
	for (unsigned int start = 0; start < segment->count; start += run.count) {
		bool useful = true;
		unsigned int within;
		enum worth worth;

		run = (struct run){.ops = segment->ops + start, .any_value = segment->any_value + start};
		run.position = reprise_lane_position_within(segment->ops, segment->any_value, start,
		                                            &segment->position);
		if (lane->group == NULL)
			run.count = reprise_plan_piece(segment, start, hold_ns, few);
		else
			run.count = reprise_pieces_next(&pieces, start, &run.placed, &useful);
		within = reprise_plan_within_functions(run.ops, run.count);
		if (lane->group == NULL)
			run.count = within;
		else if (reprise_pieces_await_whole(&pieces, start, run.count, &run.position))
			return;
		if (!useful || within < run.count || run.count < reprise_option(REPRISE_OPTION_SMALLEST) ||
		    !reprise_watch_note_part(lane->watch, segment, start, run.count))
			continue;
		worth = worth_of(lane, run.ops, run.any_value, run.count, false);
		if (worth == NONE)
			continue;
		if (worth == MANY)
			reprise_lane_postpone_backoff(lane, REPRISE_TUNE_BACKOFF_AFTER);
		run.gap_ns = mean_gap(segment, start, run.count);
		add_trace(lane, &run, lane->group != NULL);
	}
}

void reprise_lane_split(struct reprise_lane *lane, struct reprise_trace *trace, unsigned int at)
{
	struct run first = {.ops = trace->ops,
	                    .any_value = trace->any_value,
	                    .count = at,
	                    .position = trace->position,
	                    .gap_ns = trace->gap_ns},
			   rest = {.ops = trace->ops + at,
	                   .any_value = trace->any_value + at,
	                   .count = trace->count - at,
	                   .position = reprise_lane_position_within(trace->ops, trace->any_value, at,
	                                                            &trace->position),
	                   .gap_ns = trace->gap_ns};

	lane->trace = trace; /* its own parts must not evict it */
	add_trace(lane, &first, false);
	add_trace(lane, &rest, false);
	lane->trace = NULL;
	reprise_lane_drop(lane, trace);
}

/* ---- values that come again ---- */

static uint64_t any_values_of(const struct reprise_trace *trace)
{
	uint64_t values = 1;

	for (unsigned int i = 0; i < trace->count; i++)
		if (trace->any_value[i])
			values = reprise_hash_mix(values, reprise_op_value(&trace->ops[i]));
	return values;
}

static void make_twin(struct reprise_lane *lane, struct reprise_trace *trace)
{
	static const bool none[REPRISE_TUNE_SEGMENT_MOST];
	const struct run run = {.ops = trace->ops,
	                        .any_value = none,
	                        .count = trace->count,
	                        .position = lane->position,
	                        .gap_ns = trace->gap_ns};
	struct reprise_trace *twin;

	for (unsigned int i = 0; i < trace->count; i++)
		trace->ops[i].value = reprise_op_value(&trace->ops[i]);
	twin = reprise_index_twin(lane->index, &lane->position, trace->ops, trace->count);
	if (twin != NULL) {
		try_again(lane, twin);
		return;
	}
	twin = make_trace(lane, &run);
	if (twin == NULL)
		return;
	twin->twin = true;
	trace->has_twins = true;
	reprise_lane_count(&lane->counts.twins, 1);
}

void reprise_lane_note_values(struct reprise_lane *lane, struct reprise_trace *trace)
{
	uint64_t set = reprise_cost(REPRISE_COST_node_set, trace->brought),
			 price = REPRISE_TUNE_KIN_BUILD * reprise_cost(REPRISE_COST_build, trace->count);

	trace->brought = 0;
	if (lane->group != NULL || reprise_observing || trace->count > REPRISE_TUNE_SEGMENT_MOST ||
	    !reprise_recurring_is_due(&trace->recurring))
		return;
	if (reprise_recurring_note(&trace->recurring, any_values_of(trace), set, price))
		make_twin(lane, trace);
}

/* ---- watching ---- */

/* True if a graph may end before this op: no earlier op runs beside it. */
static bool is_border(const struct reprise_lane *lane, const struct reprise_op *op)
{
	return lane->group == NULL || reprise_group_is_border(lane->group, op->member);
}

void reprise_lane_keep(struct reprise_lane *lane, const struct reprise_op *op, uint64_t gap_ticks)
{
	bool border = is_border(lane, op);

	lane->position = (struct reprise_position){op->shape, op->value, lane->position.since_wait + 1};
	lane->last = NULL;
	if (op->kind == REPRISE_OP_KERNEL) {
		reprise_name_seen(op->kernel.name);
		reprise_lane_learn_function(lane, op->kernel.function);
	} else if (reprise_op_names_elsewhere(op)) {
		atomic_store(&lane->names_elsewhere, true);
	}
	reprise_watch_keep(lane->watch, gap_ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)gap_ticks,
	                   border, reprise_lane_make_traces, lane);
}

void reprise_lane_watch_issued(struct reprise_lane *lane, const struct reprise_op *op,
                               uint64_t gap_ticks, uint8_t waits_for)
{
	struct reprise_op *slot;

	reprise_lane_open_segment(lane);
	slot = reprise_watch_slot(lane->watch, op);
	if (slot == NULL)
		return;
	reprise_op_copy(slot, op);
	slot->waits_for = waits_for;
	reprise_lane_keep(lane, slot, gap_ticks);
}

/* ---- backoff ---- */

/* A new lane is scanned from its first op on. When calls come again, it is watched. If nothing
 * repeats all the same, it backs off for REPRISE_TUNE_BACKOFF_LEAST ops, then for twice as many
 * each time, up to REPRISE_TUNE_BACKOFF_MOST. After each backoff it is
 * scanned, and watched for REPRISE_TUNE_BACKOFF_WATCHED ops. If no calls come again while it is
 * scanned, for REPRISE_TUNE_SCAN_SPAN ops, it backs off for as many, then for twice as many each
 * time. */

/* The next `ops` ops are not watched. */
static void begin_backoff(struct reprise_lane *lane, uint32_t ops)
{
	reprise_lane_count(&lane->counts.ops, ops);
	reprise_lane_count(&lane->counts.backed_off, ops);
	atomic_store_explicit(&lane->backoff_ops, ops, memory_order_relaxed);
}

/* Backs off, and is scanned before it is watched again. */
static void rest(struct reprise_lane *lane, uint32_t ops)
{
	begin_backoff(lane, ops);
	lane->backoff_at = lane->counts.ops;
	lane->scan_due = true;
	reprise_scan_forget_score(lane->scan);
}

static uint32_t longer(uint32_t span, uint32_t least)
{
	if (span == 0)
		return least;
	return span < REPRISE_TUNE_BACKOFF_MOST / 2 ? 2 * span : REPRISE_TUNE_BACKOFF_MOST;
}

static void back_off(struct reprise_lane *lane)
{
	lane->backoff_span = longer(lane->backoff_span, REPRISE_TUNE_BACKOFF_LEAST);
	rest(lane, lane->backoff_span);
}

/* True if the op, which the caller has counted, falls into a backoff. It was counted when the
 * backoff began, so it is counted once less. */
static bool is_in_backoff(struct reprise_lane *lane)
{
	uint32_t left = atomic_load_explicit(&lane->backoff_ops, memory_order_relaxed);

	if (left == 0 || left == REPRISE_LANE_SCANS)
		return false;
	reprise_lane_count_down(lane, left);
	reprise_lane_uncount(&lane->counts.ops, 1);
	return true;
}

static bool scans(const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->backoff_ops, memory_order_relaxed) == REPRISE_LANE_SCANS;
}

static void watch_again(struct reprise_lane *lane)
{
	lane->scan_span = 0;
	lane->backoff_at = lane->counts.ops + (lane->backoff_span == 0 ? REPRISE_TUNE_BACKOFF_AFTER
	                                                               : REPRISE_TUNE_BACKOFF_WATCHED);
}

/* With an op that is not watched. */
static void begin_scan(struct reprise_lane *lane, const struct reprise_call *call)
{
	reprise_lane_count(&lane->counts.backed_off, 1);
	reprise_scan_begin(lane->scan);
	reprise_scan_note(lane->scan, reprise_scan_key(call));
	atomic_store_explicit(&lane->backoff_ops, REPRISE_LANE_SCANS, memory_order_release);
}

/* An op of a lane that scans. True if no calls have come again. */
static bool goes_on_scanning(struct reprise_lane *lane, const struct reprise_call *call)
{
	if (reprise_scan_found(lane->scan) || reprise_scan_note(lane->scan, reprise_scan_key(call))) {
		reprise_lane_wake(lane);
		watch_again(lane);
		return false;
	}
	reprise_lane_count(&lane->counts.backed_off, 1);
	if (!reprise_scan_goes_on(lane->scan)) {
		reprise_lane_wake(lane);
		lane->scan_span = longer(lane->scan_span, REPRISE_TUNE_SCAN_SPAN);
		rest(lane, lane->scan_span);
	}
	return true;
}

/* What `observe` tells is to have all calls, those before a loop too. */
static bool is_observed_first(const struct reprise_lane *lane)
{
	return reprise_observing && lane->counts.backed_off == 0;
}

bool reprise_lane_try_back_off(struct reprise_lane *lane, const struct reprise_call *call)
{
	bool scan = lane->scan_due;

	if (is_in_backoff(lane))
		return true;
	if (scans(lane))
		return goes_on_scanning(lane, call);
	if (lane->group != NULL)
		return false;
	lane->scan_due = false;
	if (scan && (reprise_scan_found(lane->scan) || is_observed_first(lane))) {
		watch_again(lane);
		return false;
	}
	reprise_lane_close_segment(lane, false);
	reprise_lane_move_to(lane, REPRISE_BEFORE_NOTHING);
	if (scan)
		begin_scan(lane, call);
	else
		back_off(lane);
	return true;
}

void reprise_lane_cannot_watch(struct reprise_lane *lane)
{
	if (is_in_backoff(lane) || scans(lane))
		return;
	reprise_lane_make_room(lane);
	begin_backoff(lane, REPRISE_TUNE_BACKOFF_WATCHED);
}
