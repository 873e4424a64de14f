/* The doors of calls that end or change something (LIFETIME): deferred ops are issued, and the
 * traces that name it are forgotten. */
#include "entry/inner.h"

#include "base/changes.h"
#include "base/gate.h"
#include "base/hash.h"
#include "base/inside.h"
#include "base/keep.h"
#include "base/ending.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/building.h"
#include "graph/carried.h"
#include "graph/neighbours.h"
#include "op/memory.h"
#include "stats/counters.h"
#include "timeline/timeline.h"
#include "lane/side_exit.h"
#include "lane/eager.h"
#include "lane/errors.h"
#include "lane/group/group.h"
#include "lane/loading.h"
#include "lane/order.h"
#include "lane/own_stream.h"
#include "lane/registry.h"
#include "lane/threads.h"
#include "lane/traces.h"

/* What is forgotten, of which lanes. */
struct forgetting {
	struct reprise_function_set function; /* only traces that launch it; no handle: all */
	CUstream stream;                      /* only this stream's lane, if `one_stream` */
	bool one_stream;
	uint32_t owner;    /* only this thread's lanes; 0: all */
	CUcontext context; /* only this context's lanes; NULL: all */
	/* Traces of this context stay: only the limit of the function's shared memory changes. */
	CUcontext limited;
	bool is_limit_set; /* to limit_bytes; else it is about to be */
	unsigned int limit_bytes;
	bool elsewhere; /* only traces that name arrays or contexts */
	bool retire;    /* the lanes are retired too */
	/* Their capture streams stay, and end with the context: the driver might block the thread that
	 * destroys them. */
	bool stay;
	bool goes_on; /* the context may go on, and threads their own streams in it */
};

#define TRIES_MOST 16

/* Pauses the builder and locks the lane, with nothing deferred. What is deferred is issued before
 * the pause, under the lane's lock alone: the driver may block the issuing thread. Another thread
 * may defer again meanwhile, so this is tried several times. */
static void take(struct reprise_lane *lane, bool split)
{
	for (unsigned int tries = 1;; tries++) {
		if (split)
			reprise_group_flush(lane);
		else if (atomic_load(&lane->deferred_since) != 0)
			reprise_lane_tell(lane, false);
		reprise_graph_building_pause();
		if (split)
			reprise_group_split_paused(lane, false);
		reprise_lock_take(&lane->lock);
		if (atomic_load(&lane->deferred_since) == 0 || tries == TRIES_MOST)
			break;
		reprise_lock_give(&lane->lock);
		reprise_graph_building_resume();
	}
	reprise_lane_barrier(lane, false);
}

static void give(struct reprise_lane *lane)
{
	reprise_lock_give(&lane->lock);
	reprise_graph_building_resume();
}

/* Under the lane's lock, with nothing deferred and building paused. */
static void forget_function(struct reprise_lane *lane, const struct forgetting *what)
{
	if (lane->context != what->limited || reprise_lane_may_launch_any(lane, &what->function))
		reprise_lane_forget_function(lane, &what->function);
	else
		reprise_lane_limit_shared(lane, &what->function, what->limit_bytes, what->is_limit_set);
}

/* The lane of a thread's own stream is about to be retired. If the thread has to wait for the proxy
 * still, and may do so, the lane keeps it. */
static void end_own_stream(struct reprise_lane *lane,
                           struct reprise_capture_streams *capture_streams, bool goes_on)
{
	lane->capture_streams.proxy = capture_streams->proxy;
	if (goes_on && !reprise_own_stream_may_end(lane)) {
		capture_streams->proxy = (struct reprise_proxy){0};
		return;
	}
	lane->capture_streams.proxy = (struct reprise_proxy){0};
	reprise_own_stream_drop(lane);
}

static void forget(struct reprise_lane *lane, void *context)
{
	const struct forgetting *what = context;
	struct reprise_capture_streams capture_streams = {0};

	if (atomic_load(&lane->retired) || (what->one_stream && lane->stream != what->stream) ||
	    (what->owner != 0 && lane->owner != what->owner) ||
	    (what->context != NULL && lane->context != what->context) ||
	    (what->function.handle != NULL && !reprise_lane_may_launch(lane, &what->function)) ||
	    (what->elsewhere && !atomic_load(&lane->names_elsewhere)))
		return;
	take(lane, what->one_stream || what->retire);
	if (what->function.handle != NULL)
		forget_function(lane, what);
	else if (what->elsewhere)
		reprise_lane_forget_elsewhere(lane);
	else
		reprise_lane_forget(lane);
	if (what->retire || what->one_stream)
		capture_streams = reprise_lane_take_capture_streams(lane);
	if (what->retire && lane->owner != 0)
		end_own_stream(lane, &capture_streams, what->goes_on);
	if (what->retire)
		reprise_lanes_retire(lane);
	give(lane);
	if (capture_streams.context != NULL && !what->stay)
		reprise_lane_close(&capture_streams);
}

void reprise_lanes_forget_all(void)
{
	struct forgetting all = {0};

	reprise_lanes_each(forget, &all);
}

/* ---- contexts ---- */

#define DEVICES_MOST 64

/* For each device, the primary context found by a call that might end it. Shared by all threads:
 * another thread's call may be the one that ends it. */
static _Atomic(CUcontext) primaries[DEVICES_MOST];

static void note_primary(CUdevice device, CUcontext context)
{
	if (context != NULL && device >= 0 && device < DEVICES_MOST)
		atomic_store(&primaries[device], context);
}

static void note_primaries(void)
{
	int count = 0;

	if (reprise_driver.cuDeviceGetCount(&count) != CUDA_SUCCESS)
		return;
	for (CUdevice device = 0; device < count; device++)
		note_primary(device, reprise_driver_primary(device));
}

/* Forgets what is left of the context without touching it: the handle may name a new context by
 * now. Forgets its captures too, as no other call reports their end. */
static void context_has_ended(CUcontext context)
{
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (atomic_load(&lane->retired) && atomic_load(&lane->context) == context)
			reprise_own_stream_drop(lane);
	reprise_program_captures_destroyed(NULL, context);
	reprise_errors_context_ended(context);
	reprise_reclaim_lose(context);
	reprise_neighbours_ended(context);
}

static bool is_of_device(enum reprise_lifetime what)
{
	return what == REPRISE_LIFETIME_PRIMARY || what == REPRISE_LIFETIME_RESET;
}

static bool is_current(CUcontext context)
{
	CUcontext current = NULL;

	return reprise_driver_current(&current) && current == context;
}

/*
 * True if the call has ended the device's context, or the one named by `handle`. A context may
 * survive because it has another holder or the call was refused. A reset ends a primary context
 * whoever holds it, even if it is active again by now. Without holders a primary context is not
 * active. A context that is detached is current until it ends.
 */
static bool has_ended(enum reprise_lifetime what, uintptr_t handle, CUresult result)
{
	switch (what) {
	case REPRISE_LIFETIME_RESET:
		return result == CUDA_SUCCESS || !reprise_driver_primary_is_there((CUdevice)handle);
	case REPRISE_LIFETIME_PRIMARY:
		return !reprise_driver_primary_is_there((CUdevice)handle);
	case REPRISE_LIFETIME_DETACH:
		return result == CUDA_SUCCESS && !is_current((CUcontext)handle);
	default:
		return result != CUDA_ERROR_INVALID_CONTEXT &&
		       result != CUDA_ERROR_INVALID_VALUE; /* other errors are from earlier work */
	}
}

static void look_at_primary(enum reprise_lifetime what, CUdevice device, CUresult result)
{
	CUcontext context;

	if (device < 0 || device >= DEVICES_MOST || atomic_load(&primaries[device]) == NULL ||
	    !has_ended(what, (uintptr_t)device, result))
		return;
	context = atomic_exchange(&primaries[device], NULL);
	if (context != NULL)
		context_has_ended(context);
}

/* After the call. What is known of a context is kept until then. */
static void look_at_contexts(enum reprise_lifetime what, uintptr_t handle, CUresult result)
{
	if (is_of_device(what))
		look_at_primary(what, (CUdevice)handle, result);
	else if (handle == 0)
		for (CUdevice device = 0; device < DEVICES_MOST; device++)
			look_at_primary(REPRISE_LIFETIME_PRIMARY, device, result);
	else if (has_ended(what, handle, result))
		context_has_ended((CUcontext)handle);
}

/*
 * Gives back what Reprise has in the context (NULL: in all contexts). This comes before the
 * driver's call: a graph that is left in a context that ends is never freed. The driver may block
 * the thread that destroys a graph until the context's work is done. cuCtxDestroy waits for its
 * context's work anyway. After other calls the context may live on, and its work may wait for this
 * thread. So they give back only if no other thread's call waits; after two seconds, graphs and
 * streams are left. Returns true if none were left.
 */
static bool give_back(CUcontext context, bool ends_surely)
{
	bool now = ends_surely || reprise_gate_alone(REPRISE_TUNE_LIFETIME_PATIENCE_NS);
	struct forgetting ending = {.context = context,
	                            .retire = true,
	                            .stay = !now,
	                            .goes_on = !ends_surely};
	struct reprise_reclaim_entry *entries;

	reprise_lanes_each(forget, &ending);
	reprise_graph_building_pause();
	entries = now ? reprise_reclaim_take(context) : NULL;
	reprise_graph_building_resume();
	reprise_reclaim_destroy(entries);
	reprise_group_destroy_spares(context);
	return now;
}

/* The capture mode is relaxed, so that Reprise's calls do not end a capture of the program's. */
static void end_context(enum reprise_lifetime what, uintptr_t handle)
{
	CUstreamCaptureMode mode;
	bool of_device = is_of_device(what), nothing_left = true;
	int entered = reprise_enter();
	CUcontext context;

	mode = reprise_driver_begin_relaxed();
	context = of_device ? reprise_driver_primary((CUdevice)handle) : (CUcontext)handle;
	if (!of_device || context != NULL)
		nothing_left = give_back(context, what == REPRISE_LIFETIME_CONTEXT && context != NULL);
	if (of_device)
		note_primary((CUdevice)handle, context);
	else if (context == NULL && (!nothing_left || atomic_load(&reprise_errors_count) != 0))
		note_primaries();
	reprise_driver_end_relaxed(mode);
	reprise_leave(entered);
}

/* ---- all kinds ---- */

static bool is_of_function(enum reprise_lifetime what)
{
	return what == REPRISE_LIFETIME_FUNCTION || what == REPRISE_LIFETIME_KERNEL;
}

static bool is_of_memory(enum reprise_lifetime what)
{
	return what == REPRISE_LIFETIME_MEMORY || what == REPRISE_LIFETIME_ARRAYS ||
	       what == REPRISE_LIFETIME_UNNAMED;
}

/* Calls `does` for each kind of kept answers that the call may change. */
static void each_change(enum reprise_lifetime what, void (*does)(enum reprise_changes what))
{
	if (is_of_memory(what) || what == REPRISE_LIFETIME_CODE || reprise_ends_context(what))
		does(REPRISE_CHANGES_MEMORY);
	if (what == REPRISE_LIFETIME_CODE || reprise_ends_context(what))
		does(REPRISE_CHANGES_FUNCTIONS);
}

/* Which traces are forgotten. */
static struct forgetting scope_of(enum reprise_lifetime what, uintptr_t handle)
{
	struct forgetting forgetting = {0};

	switch (what) {
	case REPRISE_LIFETIME_FUNCTION:
	case REPRISE_LIFETIME_KERNEL:
		forgetting.function =
			reprise_loading_set((CUfunction)handle, what == REPRISE_LIFETIME_KERNEL);
		break;
	case REPRISE_LIFETIME_STREAM:
	case REPRISE_LIFETIME_ATTRIBUTES:
		forgetting.one_stream = true;
		forgetting.retire = handle > (uintptr_t)CU_STREAM_PER_THREAD;
		forgetting.stream = handle == 0 ? CU_STREAM_LEGACY : (CUstream)handle;
		forgetting.owner = forgetting.stream == CU_STREAM_PER_THREAD ? reprise_thread_self() : 0;
		break;
	case REPRISE_LIFETIME_ARRAYS:
	case REPRISE_LIFETIME_CONTEXT:
	case REPRISE_LIFETIME_DETACH:
	case REPRISE_LIFETIME_PRIMARY:
	case REPRISE_LIFETIME_RESET: /* what was made in one may be named in any other */
		forgetting.elsewhere = true;
		break;
	default:
		break;
	}
	return forgetting;
}

static void forget_traces(enum reprise_lifetime what, uintptr_t handle, bool call_returned)
{
	struct forgetting forgetting = scope_of(what, handle);

	reprise_lanes_each(forget, &forgetting);
	if (what == REPRISE_LIFETIME_ATTRIBUTES && forgetting.stream == CU_STREAM_PER_THREAD)
		reprise_thread_attributes_change(call_returned);
}

/*
 * Issues the deferred ops that may name what ends.
 *
 * For a stream, only the ops on it: the driver may block the launches of other lanes, and the end
 * of an unrelated stream must not wait for those. For registered memory or a pool, only this
 * thread's ops: no deferred op can name it. For a function, only this thread's ops: others that may
 * launch it are issued where their traces are forgotten.
 */
static void issue_before_end(enum reprise_lifetime what, uintptr_t handle)
{
	if (what == REPRISE_LIFETIME_STREAM)
		reprise_lanes_sync(REPRISE_SYNC_STREAM, handle, false);
	else if (what == REPRISE_LIFETIME_ARRAYS)
		reprise_lanes_sync(REPRISE_SYNC_UNKNOWN, 0, false);
	else if (what == REPRISE_LIFETIME_UNNAMED || is_of_function(what))
		reprise_lanes_issue_own();
	else
		reprise_lanes_barrier(true);
	if (what == REPRISE_LIFETIME_ATTRIBUTES) /* the proxy is made anew */
		reprise_own_streams_settle((CUstream)handle, false);
}

static void begin_end(enum reprise_lifetime what, uintptr_t handle)
{
	reprise_count(REPRISE_COUNT_lifetimes, 1);
	if (reprise_records())
		reprise_recorded_lifetime(what, handle);
	issue_before_end(what, handle);
	each_change(what, reprise_changes_begin);
	if (what == REPRISE_LIFETIME_MEMORY || what == REPRISE_LIFETIME_UNNAMED)
		return;
	if (what == REPRISE_LIFETIME_STREAM && handle != 0)
		reprise_program_captures_destroyed((CUstream)handle, NULL);
	if (what == REPRISE_LIFETIME_ATTRIBUTES)
		reprise_carried_note(scope_of(what, handle).stream);
	if (reprise_ends_context(what))
		end_context(what, handle);
	forget_traces(what, handle, false);
	if (what == REPRISE_LIFETIME_STREAM && handle > (uintptr_t)CU_STREAM_PER_THREAD)
		reprise_errors_stream_ended((CUstream)handle);
}

/* Forgets what other threads learnt during the call, and graphs captured during it: setting a
 * texture reference, for example, waits for nothing. An ended stream leaves nothing to learn, and
 * its handle may name a new stream by now. */
static void complete_end(enum reprise_lifetime what, uintptr_t handle, CUresult result)
{
	each_change(what, reprise_changes_end);
	if (reprise_ends_context(what))
		look_at_contexts(what, handle, result);
	if (what == REPRISE_LIFETIME_CODE || what == REPRISE_LIFETIME_ARRAYS || is_of_function(what) ||
	    what == REPRISE_LIFETIME_ATTRIBUTES || reprise_ends_context(what))
		forget_traces(what, handle, true);
}

void reprise_lifetime(enum reprise_lifetime what, uintptr_t handle)
{
	REPRISE_KEEP_ERRNO;
	uint64_t begin = reprise_timeline_begin();

	if (reprise_inside != 0)
		return;
	begin_end(what, handle);
	reprise_timeline_end_call(REPRISE_TIMELINE_LIFETIME, begin);
}

void reprise_lifetime_ended(enum reprise_lifetime what, uintptr_t handle, CUresult result)
{
	REPRISE_KEEP_ERRNO;
	uint64_t begin = reprise_timeline_begin();

	if (reprise_inside != 0)
		return;
	complete_end(what, handle, result);
	reprise_timeline_end_call(REPRISE_TIMELINE_LIFETIME, begin);
}

#define LIMITS_OF_FUNCTIONS 4096 /* a power of two */

/* A bit for each function that was given a limit of its own: what its kernel is given is without
 * effect then, before or after (the documentation of cuKernelSetAttribute). Functions may share a
 * bit: then traces are forgotten without need. */
static _Atomic uint64_t own_limits[LIMITS_OF_FUNCTIONS / 64];

static uint32_t place_of_limit(CUfunction function)
{
	return reprise_hash_mix((uintptr_t)function, 1) % LIMITS_OF_FUNCTIONS;
}

static void note_own_limit(CUfunction function)
{
	uint32_t place = place_of_limit(function);

	atomic_fetch_or(&own_limits[place / 64], UINT64_C(1) << place % 64);
}

static bool has_own_limit(CUfunction function)
{
	uint32_t place = place_of_limit(function);

	return (atomic_load(&own_limits[place / 64]) >> place % 64 & 1) != 0;
}

/* True if the kernel's limit on the device is that of what is launched in the current context. */
static bool limits_kernel(const struct reprise_function_set *kernel, CUdevice device)
{
	CUdevice current;

	if (reprise_driver.cuCtxGetDevice == NULL ||
	    reprise_driver.cuCtxGetDevice(&current) != CUDA_SUCCESS || current != device)
		return false;
	return kernel->function != NULL ? !has_own_limit(kernel->function) : kernel->nowhere;
}

/* The context in which the limit of what is launched is the one that is set. NULL: not known. */
static CUcontext context_of_limit(const struct reprise_limit *limit,
                                  const struct reprise_function_set *set)
{
	CUcontext context = NULL;

	return reprise_driver_current(&context) &&
	               (!set->is_kernel || limits_kernel(set, limit->device))
	           ? context
	           : NULL;
}

static void tell_of_limit(const struct reprise_limit *limit, bool is_set)
{
	struct forgetting forgetting = scope_of(limit->what, limit->handle);

	forgetting.limited = context_of_limit(limit, &forgetting.function);
	forgetting.is_limit_set = is_set;
	forgetting.limit_bytes = limit->bytes;
	reprise_lanes_each(forget, &forgetting);
}

void reprise_limit_begin(const struct reprise_limit *limit)
{
	REPRISE_KEEP_ERRNO;
	uint64_t begin = reprise_timeline_begin();

	if (reprise_inside != 0)
		return;
	reprise_count(REPRISE_COUNT_lifetimes, 1);
	if (reprise_records())
		reprise_recorded_lifetime(limit->what, limit->handle);
	if (limit->what == REPRISE_LIFETIME_FUNCTION)
		note_own_limit((CUfunction)limit->handle);
	issue_before_end(limit->what, limit->handle);
	tell_of_limit(limit, false);
	reprise_timeline_end_call(REPRISE_TIMELINE_LIFETIME, begin);
}

void reprise_limit_end(const struct reprise_limit *limit)
{
	REPRISE_KEEP_ERRNO;
	uint64_t begin = reprise_timeline_begin();

	if (reprise_inside != 0)
		return;
	tell_of_limit(limit, true);
	reprise_timeline_end_call(REPRISE_TIMELINE_LIFETIME, begin);
}

bool reprise_free_begin(CUdeviceptr address)
{
	REPRISE_KEEP_ERRNO;

	/* The driver may not be asked while the program captures. */
	return reprise_inside == 0 && reprise_memory_free_begin(address, reprise_taking_part());
}

void reprise_free_end(void)
{
	reprise_memory_free_end();
}
