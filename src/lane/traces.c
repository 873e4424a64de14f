#include "lane/traces.h"

#include "base/inside.h"
#include "driver/driver.h"
#include "graph/building.h"
#include "graph/build_queue.h"
#include "trace/account.h"
#include "lane/functions.h"
#include "lane/pending.h"

void reprise_lane_drop(struct reprise_lane *lane, struct reprise_trace *trace)
{
	reprise_pending_count(lane);
	reprise_account_ended(trace, lane->number);
	reprise_index_remove(lane->index, trace);
	if (lane->expected == trace)
		lane->expected = NULL;
	if (lane->last == trace)
		lane->last = NULL;
	reprise_graph_retire(&trace->graph);
	reprise_trace_free(trace);
}

bool reprise_lane_evict(struct reprise_lane *lane)
{
	struct reprise_trace *oldest =
		lane->index != NULL ? reprise_index_oldest(lane->index, lane->trace) : NULL;

	if (oldest == NULL || reprise_pending_has(lane, oldest))
		return false;
	reprise_lane_drop(lane, oldest);
	reprise_lane_count(&lane->counts.evicted, 1);
	return true;
}

bool reprise_lane_make_room(struct reprise_lane *lane)
{
	if (reprise_observing)
		return reprise_lane_evict(lane);
	reprise_graph_want_host_room();
	return false;
}

/* True if the trace is to be forgotten, as `what` says. */
typedef bool (*trace_goes)(const struct reprise_trace *trace, const void *what);

static bool any(const struct reprise_trace *trace, const void *what)
{
	return true;
}

static bool forks(const struct reprise_trace *trace, const void *what)
{
	return trace->event_count > 0 || trace->graph.members != 1;
}

static bool names(const struct reprise_trace *trace, const void *event)
{
	for (unsigned int i = 0; trace->event_count > 0 && i < trace->count; i++)
		if (reprise_op_is_event(trace->ops[i].kind) && trace->ops[i].event == event)
			return true;
	return false;
}

/* False if a trace stays because its graph is being built, which cannot be while building is
 * paused. */
static bool drop_all(struct reprise_lane *lane, trace_goes goes, const void *what)
{
	int entered = reprise_enter();
	bool pushed = reprise_driver_make_current(lane->context), all = true;

	for (struct reprise_trace *trace = lane->index != NULL ? lane->index->newest : NULL, *older;
	     trace != NULL; trace = older) {
		older = trace->older;
		if (!goes(trace, what))
			continue;
		if (reprise_build_queue_remove(&trace->graph))
			reprise_lane_drop(lane, trace);
		else
			all = false;
	}
	reprise_driver_restore_current(pushed);
	reprise_leave(entered);
	return all;
}

void reprise_lane_drop_segment(struct reprise_lane *lane)
{
	if (lane->watching)
		reprise_watch_drop(lane->watch);
	lane->watching = false;
	reprise_lane_move_to(lane, REPRISE_BEFORE_NOTHING);
}

static void forget(struct reprise_lane *lane, trace_goes goes, const void *what)
{
	drop_all(lane, goes, what);
	reprise_lane_drop_segment(lane); /* it may name what is about to end, too */
}

void reprise_lane_forget(struct reprise_lane *lane)
{
	forget(lane, any, NULL);
	reprise_known_unlearn_all(&lane->functions);
	atomic_store(&lane->launches_functions, false);
	atomic_store(&lane->names_elsewhere, false);
}

static bool names_elsewhere(const struct reprise_trace *trace, const void *what)
{
	for (unsigned int i = 0; i < trace->count; i++)
		if (reprise_op_names_elsewhere(&trace->ops[i]))
			return true;
	return false;
}

void reprise_lane_forget_elsewhere(struct reprise_lane *lane)
{
	forget(lane, names_elsewhere, NULL);
	atomic_store(&lane->names_elsewhere, false);
}

static bool is_set(CUfunction launched, const struct reprise_function_set *set)
{
	if (launched == set->handle || (set->function != NULL && launched == set->function))
		return true;
	return !set->is_kernel && reprise_function_of_kernel(launched) == set->handle;
}

static bool launches(const struct reprise_trace *trace, const void *what)
{
	for (unsigned int i = 0; i < trace->count; i++)
		if (trace->ops[i].kind == REPRISE_OP_KERNEL && is_set(trace->ops[i].kernel.function, what))
			return true;
	return false;
}

void reprise_lane_forget_function(struct reprise_lane *lane, const struct reprise_function_set *set)
{
	forget(lane, reprise_lane_may_launch_any(lane, set) ? any : launches, set);
}

void reprise_lane_forget_forks(struct reprise_lane *lane)
{
	forget(lane, forks, NULL);
}

bool reprise_lane_forget_event(struct reprise_lane *lane, CUevent event)
{
	return drop_all(lane, names, event);
}

uint64_t reprise_lane_oldest(const struct reprise_lane *lane)
{
	const struct reprise_trace *oldest =
		lane->index != NULL ? reprise_index_oldest(lane->index, lane->trace) : NULL;

	return oldest != NULL ? oldest->last_used : 0;
}

bool reprise_lane_stop_watching(struct reprise_lane *lane, uint64_t before)
{
	const struct reprise_trace *newest = lane->index != NULL ? lane->index->newest : NULL;

	if (lane->watch == NULL || lane->watching || lane->trace != NULL ||
	    atomic_load(&lane->last_return) > before || (newest != NULL && newest->last_used > before))
		return false;
	reprise_watch_free(lane->watch);
	lane->watch = NULL;
	return true;
}

struct reprise_capture_streams reprise_lane_take_capture_streams(struct reprise_lane *lane)
{
	struct reprise_capture_streams taken = lane->capture_streams;

	reprise_lane_unattend(lane);
	lane->capture_streams =
		(struct reprise_capture_streams){.context = lane->context,
	                                     .model = lane->stream,
	                                     .carried = lane->capture_streams.carried};
	return taken;
}

void reprise_lane_close(struct reprise_capture_streams *capture_streams)
{
	int entered = reprise_enter();
	bool pushed = reprise_driver_make_current(capture_streams->context);

	reprise_capture_streams_close(capture_streams);
	reprise_driver_restore_current(pushed);
	reprise_leave(entered);
}
