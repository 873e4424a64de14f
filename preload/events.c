/*
 * The doors of events. Records and waits are ops where streams fork and join
 * (src/lane/group/group.h). Other calls end an event or share it with another process. A record or
 * wait with flags belongs to the program's own capture, or is an error: it is no op.
 */
#include "versions.h"

#include "base/inside.h"
#include "entry/entry.h"
#include "doors.h"

static CUresult eager_record(const struct reprise_call *call)
{
	__typeof__(&cuEventRecord) entry = call->entry;

	return entry(call->event, call->stream);
}

static CUresult eager_record_with_flags(const struct reprise_call *call)
{
	__typeof__(&cuEventRecordWithFlags) entry = call->entry;

	return entry(call->event, call->stream, CU_EVENT_RECORD_DEFAULT);
}

static CUresult eager_wait(const struct reprise_call *call)
{
	__typeof__(&cuStreamWaitEvent) entry = call->entry;

	return entry(call->stream, call->event, CU_EVENT_WAIT_DEFAULT);
}

#define HANDLE(name, op_kind, is_per_thread, makes_call) \
	struct reprise_call call = {.kind = op_kind, \
	                            .per_thread = is_per_thread, \
	                            .stream = stream, \
	                            .eager = makes_call, \
	                            .entry = reprise_real[REPRISE_ENTRY_##name], \
	                            .from = __builtin_return_address(0), \
	                            .event = event}; \
	return reprise_inside != 0 ? call.eager(&call) : reprise_handle_event(&call);

#define RECORD(name, is_per_thread) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(CUevent event, CUstream stream) \
	{ \
		HANDLE(name, REPRISE_OP_RECORD, is_per_thread, eager_record) \
	}
RECORD(cuEventRecord, false)
RECORD(cuEventRecord_ptsz, true)

#define RECORD_WITH_FLAGS(name, is_per_thread) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(CUevent event, CUstream stream, unsigned int flags) \
	{ \
		if (flags != CU_EVENT_RECORD_DEFAULT) { \
			reprise_order(stream, is_per_thread); \
			reprise_event_met(event, true); \
			return REPRISE_REAL(name)(event, stream, flags); \
		} \
		HANDLE(name, REPRISE_OP_RECORD, is_per_thread, eager_record_with_flags) \
	}
RECORD_WITH_FLAGS(cuEventRecordWithFlags, false)
RECORD_WITH_FLAGS(cuEventRecordWithFlags_ptsz, true)

#define WAIT(name, is_per_thread) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(CUstream stream, CUevent event, unsigned int flags) \
	{ \
		if (flags != CU_EVENT_WAIT_DEFAULT) { \
			reprise_order(stream, is_per_thread); \
			reprise_event_met(event, false); \
			return REPRISE_REAL(name)(stream, event, flags); \
		} \
		HANDLE(name, REPRISE_OP_WAIT, is_per_thread, eager_wait) \
	}
WAIT(cuStreamWaitEvent, false)
WAIT(cuStreamWaitEvent_ptsz, true)

#define DESTROY(name) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(CUevent event) \
	{ \
		return reprise_event_destroy(event, REPRISE_REAL(name)); \
	}
DESTROY(cuEventDestroy)
DESTROY(cuEventDestroy_v2)

__typeof__(cuIpcGetEventHandle) reprise_door_cuIpcGetEventHandle;
CUresult reprise_door_cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
	if (reprise_inside == 0)
		reprise_events_shared();
	return REPRISE_REAL(cuIpcGetEventHandle)(handle, event);
}

__typeof__(cuIpcOpenEventHandle) reprise_door_cuIpcOpenEventHandle;
CUresult reprise_door_cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
	if (reprise_inside == 0)
		reprise_events_shared();
	return REPRISE_REAL(cuIpcOpenEventHandle)(event, handle);
}
