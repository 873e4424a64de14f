/*
 * What the doors in preload/ may call: this header, and with it lane/eager.h and
 * lane/async_launch.h. Besides, they use base, driver, process/process.h, stats/sites.h,
 * lane/loading.h and graph/neighbours.h.
 *
 * All functions may be called from any thread, at any time after reprise_start() has returned. They
 * never fail: what Reprise cannot do ends in the program's own call (invariant 7). Each leaves
 * errno as it was.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lane/async_launch.h"
#include "lane/side_exit.h"
#include "lane/eager.h"
#include "lane/lane.h"
#include "lane/registry.h"
#include "op/call.h"

/* What a LIFETIME entry point ends or changes. It says what is forgotten before the call, and again
 * after it. */
enum reprise_lifetime {
	/* Modules, libraries, functions, arrays, textures: every trace may name one. */
	REPRISE_LIFETIME_CODE,
	/* Attributes of one function changed: the traces that launch it. */
	REPRISE_LIFETIME_FUNCTION,
	/* The same for a kernel. */
	REPRISE_LIFETIME_KERNEL,
	/* Memory freed or unregistered: its kind is asked again, copies are captured again. */
	REPRISE_LIFETIME_MEMORY,
	/* The same, and unknown arrays, in the order of a stream: a graphics API's resource is
	 * unmapped. */
	REPRISE_LIFETIME_ARRAYS,
	/* Host memory registered, a pool destroyed: as MEMORY, but no deferred op can name it. */
	REPRISE_LIFETIME_UNNAMED,
	/* A stream's attributes changed: its lane. */
	REPRISE_LIFETIME_ATTRIBUTES,
	/* A stream destroyed: its lane, and a capture that began there. */
	REPRISE_LIFETIME_STREAM,
	/* A context destroyed, or any context if there is no handle: everything in it. */
	REPRISE_LIFETIME_CONTEXT,
	/* The current context released by one of its holders (cuCtxDetach), which may end it. */
	REPRISE_LIFETIME_DETACH,
	/* A device's primary context released, which may end it. The handle is the device. */
	REPRISE_LIFETIME_PRIMARY,
	/* A device's primary context reset, which ends it whoever holds it. */
	REPRISE_LIFETIME_RESET,
};

/* True if it ends a context or may end one. lifetime.c finds out which, and whether it did. */
static inline bool reprise_ends_context(enum reprise_lifetime what)
{
	return what >= REPRISE_LIFETIME_CONTEXT;
}

/* ---- streams (ops.c) ---- */

/* RECORD: defers the op, replays, or makes the call. Returns the program's result. */
CUresult reprise_handle_op(struct reprise_call *call);

/* RECORD, before all else: whether the op is eager, and nothing needs to be known of it but, if it
 * is scanned, its key (pass.c). In a loop that is replayed this is one read. */
enum reprise_pass reprise_pass_begins_alone(CUstream stream, bool per_thread); /* no lane holds */
bool reprise_pass_begins_scanned(CUstream stream, bool per_thread, struct reprise_scan_key key);
bool reprise_pass_begins_in_turn(CUstream stream, bool per_thread);

static inline enum reprise_pass reprise_pass_begins(CUstream stream, bool per_thread)
{
	return atomic_load_explicit(&reprise_holding, memory_order_acquire) != 0
	           ? REPRISE_PASS_NOT
	           : reprise_pass_begins_alone(stream, per_thread);
}

/* True if the op passes: the door makes the program's call then, and again as long as
 * reprise_pass_again() is true. `is_launch`: of a kernel, which is never empty. A macro, so that
 * the key is made only where the op is scanned. The arguments are read twice. */
#define REPRISE_PASSES(stream, per_thread, is_launch, key) \
	__extension__({ \
		enum reprise_pass begins = reprise_pass_begins(stream, per_thread); \
		begins == REPRISE_PASS_AT_ONCE || \
			(begins == REPRISE_PASS_SCANNED && \
		     reprise_pass_begins_scanned(stream, per_thread, key)) || \
			((is_launch) && begins == REPRISE_PASS_IN_TURN && \
		     reprise_pass_begins_in_turn(stream, per_thread)); \
	})

/* ORDER: issues what `stream` holds and what must precede it (the legacy stream and blocking
 * streams order each other). `per_thread` as in struct reprise_call. */
void reprise_order(CUstream stream, bool per_thread);

/* The call that this thread announced with reprise_order() has returned. Where no door calls this,
 * the thread's next call implies it. */
void reprise_order_ends(void);

/* SYNC, and unknown entry points: issues what the call may observe. `handle` is the stream (0: the
 * default stream, `per_thread` as in struct reprise_call), the event (0: any), or the context (0:
 * the current one, or none). */
void reprise_sync(enum reprise_sync what, uintptr_t handle, bool per_thread);

/* The same for a call that only waits, queries, or copies synchronously. If the result is not
 * CUDA_SUCCESS, it is the program's result and the call is not made: an error of an op that was
 * answered with success (errors.h), or that a stream has not finished. */
CUresult reprise_wait(enum reprise_sync what, uintptr_t handle, bool per_thread);

/* Issues everything deferred in the process, for an observer that Reprise cannot see. */
void reprise_issue(void);

/* ---- events (events.c) ---- */

/* RECORD for an event's record or wait: as reprise_handle_op() if its stream is in a group, else as
 * ORDER. */
CUresult reprise_handle_event(struct reprise_call *call);

/* The event is about to be recorded, or waited for, by a whole context, or in a form that is no op.
 * NULL: it may be any event. What stream groups hold of it is issued. */
void reprise_event_met(CUevent event, bool recorded);

/* The program destroys the event: as SYNC. The driver's `destroy` is called when no trace names it
 * any more. */
CUresult reprise_event_destroy(CUevent event, CUresult (*destroy)(CUevent event));

/* An event comes from another process, or is given to one, which may record it at any time. As
 * SYNC. */
void reprise_events_shared(void);

/* The launch has attributes. Some make it record an event; an unknown attribute may do so too. */
void reprise_meet_attributes(const CUlaunchConfig *config);

/* ---- ends and shortage of memory (lifetime.c, shortage.c) ---- */

/* LIFETIME: issues the deferred ops concerned, and forgets what `what` and `handle` say. `handle`
 * is 0 if there is none. The second is called after the driver's call, whatever its result: it
 * forgets what other threads learnt during the call, and what ended with it. */
void reprise_lifetime(enum reprise_lifetime what, uintptr_t handle);
void reprise_lifetime_ended(enum reprise_lifetime what, uintptr_t handle, CUresult result);

/* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, as it is set. */
struct reprise_limit {
	enum reprise_lifetime what; /* REPRISE_LIFETIME_FUNCTION or _KERNEL */
	uintptr_t handle;
	CUdevice device; /* of a kernel: it has a limit on each device */
	unsigned int bytes;
};

/* LIFETIME: issues the deferred ops concerned, and forgets as above, except traces of the current
 * context: these stay, and agree with launches up to the limit once it is set. The second is called
 * after a call that has succeeded. After one that failed, or beside another one for the same
 * function, comes reprise_lifetime_ended(). */
void reprise_limit_begin(const struct reprise_limit *limit);
void reprise_limit_end(const struct reprise_limit *limit);

/* Around a driver call that frees memory in the order of a stream: what is known of the memory is
 * forgotten, nothing else. The second is called only if the first returned true. */
bool reprise_free_begin(CUdeviceptr address);
void reprise_free_end(void);

/* ALLOC: the driver had no memory for the program. True if the call is to be made again; `tried`
 * counts the calls made again so far. First all graphs are given up. Launches under way keep
 * theirs, so next these are waited for, two seconds at most. */
bool reprise_make_room(unsigned int tried);

/* A call that passes has returned. True if it is to be made again. `tried`: 0 the first time. */
static inline bool reprise_pass_again(CUresult result, unsigned int tried)
{
	reprise_gate_end_giving();
	if (__builtin_expect(result != CUDA_ERROR_OUT_OF_MEMORY, 1) || !reprise_make_room(tried))
		return false;
	reprise_gate_begin_giving(NULL);
	return true;
}

/* ---- the program's captures (captures.c) ---- */

/* The program begins or ends a capture. In between nothing is deferred in the process. `begin`
 * comes before cuStreamBeginCapture*, `end` after its failure or after cuStreamEndCapture has
 * returned. */
void reprise_program_capture_begin(CUstream stream);
void reprise_program_capture_end(CUstream stream);

/* ---- whole contexts (graph/capture_lock.c) ---- */

/* Around a call that waits for a whole context; NULL: the context is unknown. It would fail during
 * a capture of Reprise's, so the first one waits for an open capture: some microseconds. */
void reprise_context_sync_begin(CUcontext context);
void reprise_context_sync_end(CUcontext context);
