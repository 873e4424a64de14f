#include "lane/traces.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/inside.h"
#include "base/store.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/build_queue.h"
#include "graph/building.h"
#include "trace/account.h"
#include "lane/launch.h"
#include "lane/registry.h"

CUfunction reprise_function_of_kernel(CUfunction handle)
{
	CUfunction function = NULL;
	int entered = reprise_enter();

	if (reprise_driver.cuKernelGetFunction == NULL ||
	    reprise_driver.cuKernelGetFunction(&function, (CUkernel)handle) != CUDA_SUCCESS)
		function = NULL;
	reprise_leave(entered);
	return function;
}

void reprise_lane_learn_function(struct reprise_lane *lane, CUfunction function)
{
	CUfunction of_kernel;

	if (reprise_knows(&lane->functions, function))
		return;
	of_kernel = reprise_function_of_kernel(function);
	if (of_kernel != NULL)
		reprise_known_learn(&lane->functions, of_kernel);
	else
		atomic_store(&lane->launches_functions, true);
	reprise_known_learn(&lane->functions, function);
}

bool reprise_lane_may_launch_any(const struct reprise_lane *lane,
                                 const struct reprise_function_set *set)
{
	if (!set->is_kernel || !atomic_load(&lane->launches_functions))
		return false;
	return lane->context != set->context || (set->function == NULL && !set->nowhere);
}

bool reprise_lane_may_launch(const struct reprise_lane *lane,
                             const struct reprise_function_set *set)
{
	return reprise_lane_may_launch_any(lane, set) || reprise_knows(&lane->functions, set->handle) ||
	       (set->function != NULL && reprise_knows(&lane->functions, set->function));
}

/* ---- giving traces up ---- */

void reprise_lane_drop(struct reprise_lane *lane, struct reprise_trace *trace)
{
	reprise_pending_count(lane);
	reprise_account_ended(trace, lane->number);
	reprise_kin_ended(&lane->kin, trace);
	reprise_index_remove(lane->index, trace);
	if (lane->expected == trace)
		lane->expected = NULL;
	if (lane->last == trace)
		lane->last = NULL;
	if (lane->failed == trace)
		lane->failed = NULL;
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
typedef bool (*trace_goes)(const struct reprise_trace *trace, void *what);

static bool any(const struct reprise_trace *trace, void *what)
{
	return true;
}

static bool forks(const struct reprise_trace *trace, void *what)
{
	return trace->event_count > 0 || trace->graph.members != 1;
}

static bool names(const struct reprise_trace *trace, void *event)
{
	for (unsigned int i = 0; trace->event_count > 0 && i < trace->count; i++)
		if (reprise_op_is_event(trace->ops[i].kind) && trace->ops[i].event == event)
			return true;
	return false;
}

/* False if a trace stays because its graph is being built, which cannot be while building is
 * paused. */
static bool drop_all(struct reprise_lane *lane, trace_goes goes, void *what)
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

static void forget(struct reprise_lane *lane, trace_goes goes, void *what)
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

static bool names_elsewhere(const struct reprise_trace *trace, void *what)
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

#define SOUGHT_MOST 64 /* a power of two */

/* What a walk over traces looks for, and the last answer about each handle: the driver may have to
 * be asked, and the same few handles come again and again. */
struct sought {
	const struct reprise_function_set *set;
	struct {
		CUfunction launched;
		bool is_it;
	} answers[SOUGHT_MOST];
};

static bool is_it(CUfunction launched, const struct reprise_function_set *set)
{
	if (launched == set->handle || (set->function != NULL && launched == set->function))
		return true;
	return !set->is_kernel && reprise_function_of_kernel(launched) == set->handle;
}

static bool op_launches(const struct reprise_op *op, struct sought *sought)
{
	unsigned int row;

	if (op->kind != REPRISE_OP_KERNEL)
		return false;
	row = reprise_hash_mix((uintptr_t)op->kernel.function, 1) % SOUGHT_MOST;
	if (sought->answers[row].launched != op->kernel.function) {
		sought->answers[row].launched = op->kernel.function;
		sought->answers[row].is_it = is_it(op->kernel.function, sought->set);
	}
	return sought->answers[row].is_it;
}

static bool launches(const struct reprise_trace *trace, void *sought)
{
	for (unsigned int i = 0; i < trace->count; i++)
		if (op_launches(&trace->ops[i], sought))
			return true;
	return false;
}

void reprise_lane_forget_function(struct reprise_lane *lane, const struct reprise_function_set *set)
{
	struct sought sought = {.set = set};

	forget(lane, reprise_lane_may_launch_any(lane, set) ? any : launches, &sought);
}

/* Until it is set the lower limit counts: a graph may be built before or after it is. */
void reprise_lane_limit_shared(struct reprise_lane *lane, const struct reprise_function_set *set,
                               unsigned int bytes, bool is_set)
{
	struct sought sought = {.set = set};
	int entered = reprise_enter();

	for (struct reprise_trace *trace = lane->index != NULL ? lane->index->newest : NULL;
	     trace != NULL; trace = trace->older)
		for (unsigned int i = 0; i < trace->count; i++)
			if (op_launches(&trace->ops[i], &sought) &&
			    (is_set || bytes < trace->ops[i].kernel.shared_most))
				reprise_op_limit_shared(&trace->ops[i], bytes);
	reprise_leave(entered);
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

/* ---- making room ---- */

struct search {
	struct reprise_lane *lane; /* the one with the oldest trace so far */
	uint64_t used;
	uint64_t still_since;
	bool stopped;
};

static void stop_watching(struct reprise_lane *lane, void *context)
{
	struct search *search = context;

	if (search->stopped || !reprise_lock_try(&lane->lock))
		return; /* the lock's holder is using the lane */
	search->stopped = reprise_lane_stop_watching(lane, search->still_since);
	reprise_lock_give(&lane->lock);
}

static void consider(struct reprise_lane *lane, void *context)
{
	struct search *search = context;
	uint64_t used;

	if (!reprise_lock_take_within(&lane->lock, REPRISE_TUNE_EVICT_PATIENCE_NS))
		return;
	used = reprise_lane_oldest(lane);
	reprise_lock_give(&lane->lock);
	if (used != 0 && (search->lane == NULL || used < search->used)) {
		search->lane = lane;
		search->used = used;
	}
}

bool reprise_lanes_evict(bool host)
{
	struct search search = {
		.still_since = reprise_clock_since(reprise_clock_ns_to_ticks(REPRISE_TUNE_EVICT_STILL_NS))};
	bool evicted;

	if (host)
		reprise_lanes_each(stop_watching, &search);
	if (search.stopped || (host && !reprise_store_wants_traces()))
		return search.stopped;
	reprise_lanes_each(consider, &search);
	if (search.lane == NULL)
		return false;
	if (!reprise_lock_take_within(&search.lane->lock, REPRISE_TUNE_EVICT_PATIENCE_NS))
		return false;
	evicted = reprise_lane_evict(search.lane);
	reprise_lock_give(&search.lane->lock);
	return evicted;
}
