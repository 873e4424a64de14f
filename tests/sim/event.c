#include "event.h"

#include <time.h>
#include <unistd.h>

#include "api.h"
#include "capture.h"
#include "context.h"
#include "graph.h"
#include "green.h"
#include "pace.h"
#include "schedule.h"
#include "stream.h"

#define KNOWN_FLAGS \
	((unsigned int)(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS))

struct sim_event *sim_event_new(unsigned int flags)
{
	struct sim_event *event = sim_object_new(SIM_AN_EVENT, sizeof(*event));

	event->context = sim_current();
	event->flags = flags;
	event->file = -1;
	sim_push(&event->context->events, event);
	return event;
}

void sim_event_free(struct sim_event *event)
{
	struct sim_context *context = event->context;
	size_t i;

	for (i = 0; context->events.at[i] != event; i++)
		;
	sim_remove(&context->events, i);
	sim_op_drop(event->op);
	sim_clear(&event->nodes);
	if (event->file >= 0)
		close(event->file);
	sim_object_free(event);
}

void sim_event_name(struct sim_work *work, struct sim_event *event)
{
	work->event = event;
	work->event_serial = event->object.serial;
}

struct sim_event *sim_event_of(const struct sim_work *work)
{
	if (work->event->object.kind != SIM_AN_EVENT ||
	    work->event->object.serial != work->event_serial)
		sim_misuse("a graph is launched with a node of an event that was destroyed");
	return work->event;
}

void sim_event_recorded(struct sim_event *event, struct sim_op *op)
{
	sim_op_drop(event->op);
	event->op = sim_op_keep(op);
	event->captured = false;
}

/* "CU_EVENT_INTERPROCESS must be specified along with CU_EVENT_DISABLE_TIMING." */
API(SIM_CONTEXT, cuEventCreate, (CUevent * handle, unsigned int flags), (handle, flags))
{
	struct sim_event *event;

	if (!handle || (flags & ~KNOWN_FLAGS))
		return CUDA_ERROR_INVALID_VALUE;
	if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING))
		return CUDA_ERROR_INVALID_VALUE;
	event = sim_event_new(flags);
	if (flags & CU_EVENT_INTERPROCESS)
		event->shared = sim_shared_event_new(&event->file);
	*handle = (CUevent)event;
	return CUDA_SUCCESS;
}

/* "An event may be destroyed before it is complete": what waits for it waits all the same. In a
 * broken context the call returns the context's error (conformance). */
API(SIM_INIT, cuEventDestroy_v2, (CUevent handle), (handle))
{
	struct sim_event *event = sim_object_of(SIM_AN_EVENT, handle);
	CUresult result;

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	result = event->context->error;
	sim_event_free(event);
	return result;
}

/* Whether another process has recorded it last: *count is that record. */
static bool is_elsewhere(const struct sim_event *event, uint64_t *count)
{
	*count = event->shared ? sim_shared_event_count(event->shared) : 0;
	return *count != 0 && *count != event->count;
}

static CUresult record(CUevent handle, CUstream stream_handle, unsigned int flags)
{
	struct sim_event *event = sim_object_of(SIM_AN_EVENT, handle);
	struct sim_stream *stream = sim_stream_of(stream_handle);
	struct sim_work *work;
	struct sim_op *op;
	CUresult result;

	if (!event || !stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->context != stream->context)
		return CUDA_ERROR_INVALID_HANDLE;
	if (flags & ~(unsigned int)CU_EVENT_RECORD_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture && !(flags & CU_EVENT_RECORD_EXTERNAL))
		return sim_capture_record(stream, event);
	if (!stream->capture && (flags & CU_EVENT_RECORD_EXTERNAL))
		return CUDA_ERROR_ILLEGAL_STATE;
	work = sim_work_new(SIM_RECORD);
	sim_event_name(work, event);
	work->shared = event->shared;
	work->count = event->shared ? event->count = sim_shared_event_record(event->shared) : 0;
	result = sim_stream_add(stream, work, &op);
	event->paced = sim_pace_end();
	if (op) {
		sim_event_recorded(event, op);
		sim_op_drop(op);
	}
	return result;
}

API_PTSZ(SIM_CONTEXT, cuEventRecord, (CUevent event, CUstream stream), (event, stream))
{
	return record(event, stream, CU_EVENT_RECORD_DEFAULT);
}

API_PTSZ(SIM_CONTEXT, cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned int flags),
         (event, stream, flags))
{
	return record(event, stream, flags);
}

/* "The most recent call to cuEventRecord() on hEvent" counts; an event never recorded does not make
 * the stream wait. */
API_PTSZ(SIM_CONTEXT, cuStreamWaitEvent,
         (CUstream stream_handle, CUevent handle, unsigned int flags),
         (stream_handle, handle, flags))
{
	struct sim_event *event = sim_object_of(SIM_AN_EVENT, handle);
	struct sim_stream *stream = sim_stream_of(stream_handle);
	CUresult result;
	struct sim_op *op;
	uint64_t count;

	/* Measured: what is no event invalidates the capture that would wait for it. */
	if (!event && stream && stream->capture)
		stream->capture->invalidated = true;
	if (!event || !stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (flags & ~(unsigned int)CU_EVENT_WAIT_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & CU_EVENT_WAIT_EXTERNAL) {
		struct sim_work *work;

		if (!stream->capture)
			return CUDA_ERROR_ILLEGAL_STATE;
		work = sim_work_new(SIM_WAIT);
		sim_event_name(work, event);
		return sim_stream_add(stream, work, NULL);
	}
	if (stream->capture || event->captured)
		return sim_capture_wait(stream, event);
	result = sim_capture_prohibit_legacy(stream);
	if (result != CUDA_SUCCESS)
		return result;
	sim_stream_make_room(stream);
	if (is_elsewhere(event, &count)) {
		struct sim_work *work = sim_work_new(SIM_WAIT_ELSEWHERE);

		work->shared = event->shared;
		work->count = count;
		return sim_stream_add(stream, work, NULL);
	}
	sim_drain_pass(stream->context);
	op = sim_op_new(stream->context, stream->place, NULL);
	sim_op_after(op, event->op);
	sim_stream_waits(stream, event->op);
	sim_stream_append(stream, op);
	sim_op_enqueue(op);
	sim_op_drop(op);
	sim_schedule_enqueued();
	return CUDA_SUCCESS;
}

/* An event last recorded in a capturing stream can neither be queried nor waited for. Measured:
 * after that capture it is an invalid value. */
static CUresult check(const struct sim_event *event)
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->captured && !sim_capture_is_active(event->capture))
		return CUDA_ERROR_INVALID_VALUE;
	if (event->captured) {
		sim_capture_invalidate(event->capture);
		return CUDA_ERROR_CAPTURED_EVENT;
	}
	return sim_capture_unsafe();
}

API(SIM_CONTEXT, cuEventQuery, (CUevent handle), (handle))
{
	const struct sim_event *event = sim_object_of(SIM_AN_EVENT, handle);
	CUresult result = check(event);
	uint64_t count;

	if (result != CUDA_SUCCESS)
		return result;
	if (!sim_pace_has_reached(event->paced))
		return CUDA_ERROR_NOT_READY;
	if (is_elsewhere(event, &count) ? !sim_shared_event_has_finished(event->shared, count)
	                                : !sim_schedule_query(event->op))
		return CUDA_ERROR_NOT_READY;
	return event->context->error;
}

/* The lock is let go meanwhile: threads of this process may have to work for the other to come so
 * far. */
static void wait_elsewhere(const struct sim_shared_event *shared, uint64_t count)
{
	static const struct timespec nap = {0, 50000};

	while (!sim_shared_event_has_finished(shared, count)) {
		pthread_mutex_unlock(&sim_lock);
		nanosleep(&nap, NULL);
		pthread_mutex_lock(&sim_lock);
	}
}

API(SIM_CONTEXT, cuEventSynchronize, (CUevent handle), (handle))
{
	const struct sim_event *event = sim_object_of(SIM_AN_EVENT, handle);
	struct sim_context *context;
	CUresult result = check(event);
	uint64_t count;

	if (result != CUDA_SUCCESS)
		return result;
	context = event->context;
	sim_pace_wait(event->paced);
	if (is_elsewhere(event, &count))
		wait_elsewhere(event->shared, count);
	else
		sim_schedule_wait(event->op);
	return context->error;
}

static CUresult elapsed(float *ms, CUevent begin_handle, CUevent end_handle)
{
	const struct sim_event *begin = sim_object_of(SIM_AN_EVENT, begin_handle),
						   *end = sim_object_of(SIM_AN_EVENT, end_handle);

	/* Measured: no place for the answer is refused as a handle too. */
	if (!ms || !begin || !end)
		return CUDA_ERROR_INVALID_HANDLE;
	if (begin->captured || end->captured)
		return CUDA_ERROR_INVALID_VALUE;
	if (!begin->op || !end->op)
		return CUDA_ERROR_INVALID_HANDLE;
	if ((begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!sim_schedule_query(begin->op) || !sim_schedule_query(end->op))
		return CUDA_ERROR_NOT_READY;
	*ms = (float)((double)((int64_t)(end->op->ended_ns - begin->op->ended_ns)) / 1e6);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuEventElapsedTime, (float *ms, CUevent begin, CUevent end), (ms, begin, end))
{
	return elapsed(ms, begin, end);
}

API(SIM_CONTEXT, cuEventElapsedTime_v2, (float *ms, CUevent begin, CUevent end), (ms, begin, end))
{
	return elapsed(ms, begin, end);
}

/* All streams of the context, or if `green` is not NULL those of that green one. */
static CUresult wait_for_event(struct sim_context *context, const struct sim_green *green,
                               CUevent event_handle)
{
	const struct sim_event *event = sim_object_of(SIM_AN_EVENT, event_handle);
	CUresult result;
	size_t i;

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_capture_prohibit_context(context);
	if (result != CUDA_SUCCESS)
		return result;
	sim_drain_pass(context);
	for (i = 0; i < context->streams.count; i++) {
		struct sim_op *op;

		if (green && context->streams.at[i]->green != green)
			continue;
		op = sim_op_new(context, context->streams.at[i]->place, NULL);
		sim_op_after(op, event->op);
		sim_op_after(op, context->streams.at[i]->last);
		sim_stream_set_last(context->streams.at[i], op);
		sim_op_enqueue(op);
		sim_op_drop(op);
	}
	sim_schedule_enqueued();
	return CUDA_SUCCESS;
}

/* "Captures in hEvent all the activities of the context at the time of this call." Measured: a
 * capture on any of its streams prohibits it. */
API(SIM_INIT, cuCtxRecordEvent, (CUcontext handle, CUevent event_handle), (handle, event_handle))
{
	struct sim_event *event = sim_object_of(SIM_AN_EVENT, event_handle);
	struct sim_context *context = sim_context_of(handle);
	struct sim_op *op;
	CUresult result;

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!event || event->context != context)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_capture_prohibit_context(context);
	if (result != CUDA_SUCCESS)
		return result;
	sim_drain_pass(context);
	op = sim_context_all(context);
	sim_op_enqueue(op);
	sim_event_recorded(event, op);
	sim_op_drop(op);
	sim_schedule_enqueued();
	return CUDA_SUCCESS;
}

/* "Makes all future work submitted to context hCtx wait for all work captured in hEvent." */
API(SIM_INIT, cuCtxWaitEvent, (CUcontext handle, CUevent event), (handle, event))
{
	struct sim_context *context = sim_context_of(handle);

	return context ? wait_for_event(context, NULL, event) : CUDA_ERROR_INVALID_CONTEXT;
}

API(SIM_INIT, cuGreenCtxWaitEvent, (CUgreenCtx handle, CUevent event), (handle, event))
{
	const struct sim_green *green = sim_object_of(SIM_A_GREEN_CONTEXT, handle);

	return green ? wait_for_event(sim_context_primary(green->device), green, event)
	             : CUDA_ERROR_INVALID_CONTEXT;
}
