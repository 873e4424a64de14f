/*
 * What the doors in preload/ may ask of the inner rooms: what stands here, and in lane/eager.h and
 * lane/backlog.h. Nothing else of src/ is called from there, but for what only counts
 * (stats/sites.h).
 *
 * All functions may be called from any thread, at any time after reprise_start() returned, and
 * never fail: what Reprise cannot do ends in the program's own call (invariant 7). Each leaves
 * errno as it was.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lane/backlog.h"
#include "lane/barrier.h"
#include "lane/eager.h"
#include "lane/lane.h"
#include "op/call.h"

/* What a LIFETIME entry point ends or changes, and so what has to be forgotten before it passes,
 * and once more when it has. */
enum reprise_lifetime {
	REPRISE_LIFETIME_CODE, /* modules, libraries, functions, arrays, textures: every trace may name
	                          one */
	REPRISE_LIFETIME_FUNCTION, /* attributes of one function changed: the traces that launch it */
	REPRISE_LIFETIME_KERNEL,   /* the same of a kernel */
	REPRISE_LIFETIME_MEMORY,   /* memory freed or unregistered: its kind is asked again, copies are
	                              captured anew */
	REPRISE_LIFETIME_ARRAYS,  /* the same, and arrays, in the order of a stream, nobody knows which:
	                             what a graphics API shares is unmapped */
	REPRISE_LIFETIME_UNNAMED, /* host memory registered, a pool ended: as MEMORY, but nothing that
	                             is deferred can name it */
	REPRISE_LIFETIME_ATTRIBUTES, /* a stream's attributes changed: its lane */
	REPRISE_LIFETIME_STREAM,     /* a stream destroyed: its lane, and a capture that began there */
	REPRISE_LIFETIME_CONTEXT,    /* a context destroyed, or if there is no handle, any of them:
	                                everything in it */
	REPRISE_LIFETIME_DETACH, /* a context given back by one of those that hold it, which ends it, or
	                            does not. It is current */
	REPRISE_LIFETIME_PRIMARY, /* a device's primary context released, which ends it, or does not:
	                             the handle is the device */
	REPRISE_LIFETIME_RESET,   /* the same reset, which ends it whoever holds it */
};

/* Whether it ends a context, or may: which one, and whether it has, is lifetime.c's affair. */
static inline bool reprise_ends_context(enum reprise_lifetime what)
{
	return what >= REPRISE_LIFETIME_CONTEXT;
}

/* ---- streams (doors.c) ---- */

/* RECORD: decides between deferring, replaying and passing; returns what the program is to see. */
CUresult reprise_handle_op(struct reprise_call *call);

/*
 * ORDER: issues what `stream` holds (and what must precede it: the legacy stream orders against
 * blocking streams). `per_thread` as in struct reprise_call.
 */
void reprise_order(CUstream stream, bool per_thread);

/* The call that this thread announced so has returned. Where no door says it, the thread's next
 * call does. */
void reprise_order_ends(void);

/*
 * SYNC, and unknown entry points: issues what the call may observe. `handle` is the stream, the
 * event (0: any), or the context, 0 for the default stream (`per_thread` as in struct
 * reprise_call), the current context, or none.
 */
void reprise_sync(enum reprise_sync what, uintptr_t handle, bool per_thread);

/*
 * The same for a call that does nothing but wait, ask, or copy synchronously. Anything but
 * CUDA_SUCCESS is answered in the call's stead, which is not made: an error of an op that had been
 * answered with success (errors.h), or that a stream has not finished.
 */
CUresult reprise_wait(enum reprise_sync what, uintptr_t handle, bool per_thread);

/* Issues everything deferred in the process, for who cannot be seen to wait for it. */
void reprise_issue(void);

/* ---- events (events.c) ---- */

/* RECORD, an event's record or a wait for one: as reprise_handle_op(), if its stream shares a lane
 * with others; else as ORDER. */
CUresult reprise_handle_event(struct reprise_call *call);

/*
 * The event is about to be recorded, or waited for, by a whole context, or in a form that is no op;
 * NULL: any may be. What streams that fork and join hold of it is issued.
 */
void reprise_event_met(CUevent event, bool recorded);

/* The event is destroyed, by the driver's `destroy`: as SYNC, and when no trace names it any more.
 */
CUresult reprise_event_destroy(CUevent event, CUresult (*destroy)(CUevent event));

/* An event comes from another process, or goes to one, which may record it at any time from now on.
 * As SYNC. */
void reprise_events_shared(void);

/* The launch has attributes. Some have it record an event, and of those that are not known nobody
 * can say. */
void reprise_meet_attributes(const CUlaunchConfig *config);

/* ---- what ends, and what takes memory (lifetime.c, shortage.c) ---- */

/*
 * LIFETIME: issues everything deferred that may be concerned, then forgets what `what` and `handle`
 * say. `handle` is 0 where there is none. The second is called when the driver's call has returned,
 * whatever it returned: other threads may have learnt something meanwhile that is true no more, and
 * what says that it has ended goes now.
 */
void reprise_lifetime(enum reprise_lifetime what, uintptr_t handle);
void reprise_lifetime_ended(enum reprise_lifetime what, uintptr_t handle, CUresult result);

/*
 * Memory is given back in the order of a stream, around the driver's call: what is known of it is
 * forgotten, and no more. The second is called if the first was true.
 */
bool reprise_free_begin(CUdeviceptr address);
void reprise_free_end(void);

/*
 * ALLOC: the driver had no memory for the program. True if the call is to be made again; `tried` is
 * how often it has been. First every graph is given up; then, since launches under way keep theirs,
 * those are waited for, for two seconds at most.
 */
bool reprise_make_room(unsigned int tried);

/* ---- captures of the program's (captures.c) ---- */

/*
 * The program begins or ends a capture of its own. Between them nothing is deferred anywhere in the
 * process. `begin` is called before cuStreamBeginCapture*, `end` after it failed, or after
 * cuStreamEndCapture returned.
 */
void reprise_program_capture_begin(CUstream stream);
void reprise_program_capture_end(CUstream stream);

/* ---- whole contexts (graph/capture_lock.c) ---- */

/*
 * Around a call that waits for a whole context, NULL if nobody knows which: it would fail if
 * Reprise captured meanwhile. Waits for the capture that is open, some microseconds.
 */
void reprise_context_sync_begin(CUcontext context);
void reprise_context_sync_end(CUcontext context);
