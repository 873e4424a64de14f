/*
 * The doors of calls that wait for, or mark, a whole context. They fail while any stream of it captures, so that no capture of ours
 * may be open during them (graph/exclusion.h).
 */
#include "versions.h"

#include "../src/base/inside.h"
#include "../src/driver/driver.h"
#include "../src/lane/doors.h"
#include "../src/report/places.h"
#include "door.h"

/* `context` is the one that the call is about, NULL for the current one. */
#define CONTEXT_WIDE(name, context, parameters, arguments) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name parameters \
	{ \
		CUresult result; \
\
		if (reprise_inside != 0) \
			return REPRISE_REAL(name) arguments; \
		reprise_place_note(REPRISE_PLACE_waits, #name, __builtin_return_address(0)); \
		reprise_sync(REPRISE_SYNC_CONTEXT, (uintptr_t)(context), false); \
		reprise_context_sync_begin(); \
		result = REPRISE_REAL(name) arguments; \
		reprise_context_sync_end(); \
		if (result != CUDA_SUCCESS) \
			reprise_observe_result(result); \
		return result; \
	}

CONTEXT_WIDE(cuCtxSynchronize, NULL, (void), ())
CONTEXT_WIDE(cuCtxSynchronize_v2, context, (CUcontext context), (context))
CONTEXT_WIDE(cuCtxRecordEvent, context, (CUcontext context, CUevent event), (context, event))
CONTEXT_WIDE(cuCtxWaitEvent, context, (CUcontext context, CUevent event), (context, event))
