/* Events. */
#include "conformance.h"

static void events_take_known_flags(void)
{
	CUevent made;

	EXPECT(cuEventCreate(&made, 0x10), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuEventCreate(&made, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
}

static void an_event_never_recorded_is_ready(void)
{
	CUevent event = event_new(0);

	OK(cuEventQuery(event));
	OK(cuEventSynchronize(event));
}

static void an_event_is_ready_when_the_work_before_it_is(void)
{
	CUevent event = event_new(0);

	hold(stream);
	OK(cuEventRecord(event, stream));
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	release();
	OK(cuEventSynchronize(event));
	OK(cuEventQuery(event));
}

static void work_after_the_record_does_not_matter(void)
{
	CUevent event = event_new(0);

	OK(cuEventRecord(event, stream));
	hold(stream);
	OK(cuEventSynchronize(event));
	EXPECT(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	release();
	finish(stream);
}

static void recording_again_begins_anew(void)
{
	CUevent event = event_new(0);

	OK(cuEventRecord(event, stream));
	finish(stream);
	OK(cuEventQuery(event));
	hold(stream);
	OK(cuEventRecord(event, stream));
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	release();
	finish(stream);
}

static void time_passes_between_events(void)
{
	CUevent first = event_new(0), second = event_new(0);
	float ms = -1;

	OK(cuEventRecord(first, stream));
	OK(launch("nothing", stream, NULL));
	OK(cuEventRecord(second, stream));
	OK(cuEventSynchronize(second));
	OK(cuEventElapsedTime(&ms, first, second));
	TRUE(ms >= 0 && ms < 10000);
}

static void time_needs_events_that_measure_it(void)
{
	CUevent first = event_new(0), second = event_new(CU_EVENT_DISABLE_TIMING);
	float ms;

	OK(cuEventRecord(first, stream));
	OK(cuEventRecord(second, stream));
	finish(stream);
	EXPECT(cuEventElapsedTime(&ms, first, second), CUDA_ERROR_INVALID_HANDLE);
}

static void time_needs_recorded_events(void)
{
	CUevent first = event_new(0), second = event_new(0);
	float ms;

	EXPECT(cuEventElapsedTime(&ms, first, second), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventRecord(first, stream));
	finish(stream);
	EXPECT(cuEventElapsedTime(&ms, first, second), CUDA_ERROR_INVALID_HANDLE);
}

static void time_needs_finished_events(void)
{
	CUevent first = event_new(0), second = event_new(0);
	float ms;

	OK(cuEventRecord(first, stream));
	hold(stream);
	OK(cuEventRecord(second, stream));
	EXPECT(cuEventElapsedTime(&ms, first, second), CUDA_ERROR_NOT_READY);
	release();
	finish(stream);
	OK(cuEventElapsedTime(&ms, first, second));
}

static void time_needs_a_place(void)
{
	CUevent first = event_new(0);

	OK(cuEventRecord(first, stream));
	finish(stream);
	EXPECT(cuEventElapsedTime(NULL, first, first), CUDA_ERROR_INVALID_HANDLE);
}

static void an_event_may_be_destroyed_early(void)
{
	CUdeviceptr list = words();
	CUevent event;

	OK(cuEventCreate(&event, 0));
	hold(stream);
	OK(append(list, 1, stream));
	OK(cuEventRecord(event, stream));
	OK(cuStreamWaitEvent(other, event, 0));
	OK(append(list, 2, other));
	OK(cuEventDestroy(event));
	EXPECT(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	release();
	finish(other);
	is_list(list, 2);
}

static void external_records_need_a_capture(void)
{
	CUevent event = event_new(0);

	EXPECT(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL),
	       CUDA_ERROR_ILLEGAL_STATE);
}

static void records_take_known_flags(void)
{
	CUevent event = event_new(0);

	EXPECT(cuEventRecordWithFlags(event, stream, 8), CUDA_ERROR_INVALID_VALUE);
	OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT));
}

static void no_event_is_no_handle(void)
{
	EXPECT(cuEventRecord(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuEventQuery(NULL), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuEventSynchronize(NULL), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuEventDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void the_legacy_record_comes_after_blocking_streams(void)
{
	CUstream blocking = blocking_stream();
	CUevent event = event_new(0);

	hold(blocking);
	OK(cuEventRecord(event, NULL));
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	release();
	OK(cuEventSynchronize(event));
}

static void only_interprocess_events_have_handles(void)
{
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);
	CUipcEventHandle shared;

	EXPECT(cuIpcGetEventHandle(&shared, event), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuIpcGetEventHandle(&shared, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcGetEventHandle(NULL, event), CUDA_ERROR_INVALID_VALUE);
	memset(&shared, 0, sizeof(shared));
	EXPECT(cuIpcOpenEventHandle(&event, shared), CUDA_ERROR_MAP_FAILED);
}

static void what_is_not_device_memory_has_no_handle(void)
{
	CUipcMemHandle shared = {{0}};
	CUdeviceptr opened;

	EXPECT(cuIpcGetMemHandle(&shared, (CUdeviceptr)(uintptr_t)pinned()), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcGetMemHandle(&shared, 64), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcOpenMemHandle(&opened, shared, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcCloseMemHandle(words()), CUDA_ERROR_INVALID_VALUE);
}

static void a_context_is_recorded(void)
{
	CUevent event = event_new(0);

	hold(stream);
	OK(cuCtxRecordEvent(context, event));
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	release();
	OK(cuEventSynchronize(event));
	EXPECT(cuCtxRecordEvent(context, NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void hold_per_thread(void)
{
	hold(CU_STREAM_PER_THREAD);
}

/* Also of a thread that has ended. */
static void a_recorded_context_has_the_work_of_other_threads(void)
{
	CUevent event = event_new(0);

	in_thread(hold_per_thread);
	OK(cuCtxRecordEvent(context, event));
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	release();
	OK(cuEventSynchronize(event));
}

static void a_recorded_context_has_the_work_of_a_destroyed_stream(void)
{
	CUevent event = event_new(0);
	CUstream made;

	OK(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
	hold(made);
	OK(cuStreamDestroy(made));
	OK(cuCtxRecordEvent(context, event));
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	release();
	OK(cuEventSynchronize(event));
}

static void recording_a_context_orders_nothing(void)
{
	CUdeviceptr list = words();
	CUevent event = event_new(0);

	hold(stream);
	OK(cuCtxRecordEvent(context, event));
	OK(append(list, 1, other));
	finish(other);
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	release();
	OK(cuEventSynchronize(event));
	is_list(list, 1);
}

static void a_context_waits(void)
{
	CUdeviceptr list = words();
	CUevent event = event_new(0);

	hold(stream);
	OK(append(list, 1, stream));
	OK(cuEventRecord(event, stream));
	OK(cuCtxWaitEvent(context, event));
	OK(append(list, 2, other));
	EXPECT(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	release();
	finish(other);
	is_list(list, 2);
}

#define EVENT "Event Management: "

const struct check event_checks[] = {
	CHECK(events_take_known_flags, EVENT "cuEventCreate"),
	CHECK(an_event_never_recorded_is_ready, EVENT "cuEventQuery"),
	CHECK(an_event_is_ready_when_the_work_before_it_is, EVENT "cuEventQuery"),
	CHECK(work_after_the_record_does_not_matter, EVENT "cuEventSynchronize"),
	CHECK(recording_again_begins_anew, EVENT "cuEventRecord"),
	CHECK(time_passes_between_events, EVENT "cuEventElapsedTime"),
	CHECK(time_needs_events_that_measure_it, EVENT "cuEventElapsedTime"),
	CHECK(time_needs_recorded_events, EVENT "cuEventElapsedTime"),
	CHECK(time_needs_finished_events, EVENT "cuEventElapsedTime"),
	CHECK(time_needs_a_place,
          MEASURED(EVENT "cuEventElapsedTime",
                   "lists both CUDA_ERROR_INVALID_VALUE and CUDA_ERROR_INVALID_HANDLE")),
	CHECK(an_event_may_be_destroyed_early, EVENT "cuEventDestroy"),
	CHECK(external_records_need_a_capture,
          MEASURED(EVENT "cuEventRecordWithFlags",
                   "invalid outside of stream capture, with no error named")),
	CHECK(records_take_known_flags, EVENT "cuEventRecordWithFlags"),
	CHECK(only_interprocess_events_have_handles, "Memory Management: cuIpcGetEventHandle"),
	CHECK(what_is_not_device_memory_has_no_handle, "Memory Management: cuIpcGetMemHandle"),
	CHECK(a_context_is_recorded, "Context Management: cuCtxRecordEvent"),
	CHECK(a_recorded_context_has_the_work_of_other_threads, "Context Management: cuCtxRecordEvent"),
	CHECK(a_recorded_context_has_the_work_of_a_destroyed_stream,
          "Context Management: cuCtxRecordEvent"),
	CHECK(recording_a_context_orders_nothing, "Context Management: cuCtxRecordEvent"),
	CHECK(a_context_waits, "Context Management: cuCtxWaitEvent"),
	CHECK(no_event_is_no_handle, EVENT "cuEventRecord"),
	CHECK(the_legacy_record_comes_after_blocking_streams,
          "Stream synchronization behavior: Legacy default stream"),
	CHECKS_END,
};
