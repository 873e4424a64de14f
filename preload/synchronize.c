/*
 * The doors of calls that wait for a whole context, or mark it. They fail while any stream of it
 * captures, so no capture of Reprise's may be open during them (src/graph/capture_lock.h). A call
 * that makes a context wait for an event gives it work, which may wait for what is yet to come
 * (src/base/gate.h).
 */
#include "versions.h"

#include "base/gate.h"
#include "base/inside.h"
#include "driver/driver.h"
#include "entry/entry.h"
#include "stats/sites.h"
#include "doors.h"

/* The context, or if NULL the current one. */
static CUcontext context_of(CUcontext context)
{
	if (context == NULL)
		reprise_driver_current(&context);
	return context;
}

/* Like reprise_wait(), for calls that are always made: returns CUDA_SUCCESS. */
static CUresult mark(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	reprise_sync(what, handle, per_thread);
	return CUDA_SUCCESS;
}

/* A call that observes `what` of `context`; NULL: of the current one. `tell` is reprise_wait() or
 * mark(). `begin` and `end` run around the driver's call. */
#define WIDE(begin, end, name, tell, what, context, parameters, arguments) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name parameters \
	{ \
		CUcontext named, observed; \
		CUresult result; \
\
		if (reprise_inside != 0) \
			return REPRISE_REAL(name) arguments; \
		named = (CUcontext)(context); /* once: it may tell of an event */ \
		observed = what == REPRISE_SYNC_CONTEXT ? context_of(named) : NULL; \
		reprise_call_site_note(REPRISE_CALL_SITE_waits, #name, __builtin_return_address(0)); \
		result = tell(what, (uintptr_t)named, false); \
		if (result != CUDA_SUCCESS) \
			return result; \
		begin; \
		reprise_context_sync_begin(observed); \
		result = REPRISE_REAL(name) arguments; \
		reprise_context_sync_end(observed); \
		end; \
		if (result != CUDA_SUCCESS) \
			reprise_observe_result(result); \
		return result; \
	}

#define CONTEXT_WIDE(name, tell, context, parameters, arguments) \
	WIDE((void)0, (void)0, name, tell, REPRISE_SYNC_CONTEXT, context, PARAMETERS parameters, \
	     ARGUMENTS arguments)

CONTEXT_WIDE(cuCtxSynchronize, reprise_wait, NULL, (void), ())
CONTEXT_WIDE(cuCtxSynchronize_v2, reprise_wait, context, (CUcontext context), (context))
/* Streams of any other context may record the event, or wait for it. */
CONTEXT_WIDE(cuCtxRecordEvent, mark, (reprise_event_met(event, true), context),
             (CUcontext context, CUevent event), (context, event))
WIDE(reprise_gate_begin_giving(NULL), reprise_gate_end_giving(), cuCtxWaitEvent, mark,
     REPRISE_SYNC_CONTEXT, (reprise_event_met(event, false), context),
     PARAMETERS(CUcontext context, CUevent event), ARGUMENTS(context, event))

/* A green context's streams are in its primary context's lanes, if in any. */
WIDE((void)0, (void)0, cuGreenCtxRecordEvent, mark, REPRISE_SYNC_ALL, NULL,
     PARAMETERS(CUgreenCtx context, CUevent event), ARGUMENTS(context, event))
WIDE(reprise_gate_begin_giving(NULL), reprise_gate_end_giving(), cuGreenCtxWaitEvent, mark,
     REPRISE_SYNC_ALL, NULL, PARAMETERS(CUgreenCtx context, CUevent event),
     ARGUMENTS(context, event))
