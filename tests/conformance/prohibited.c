/* What a capture prohibits, whatever its mode: calls on what it captures, or on what contains it.
 */
#include "conformance.h"

static CUdeviceptr address;

/* A call that fails with 900 and invalidates the capture. */
static void prohibits(CUresult (*call)(void))
{
	address = words();
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(launch("nothing", stream, NULL));
	EXPECT(call(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	TRUE(graph == NULL);
	OK(launch("nothing", stream, NULL));
	finish(stream);
}

static CUresult there_result;
static CUresult (*there_call)(void);

static void call_there(void)
{
	there_result = there_call();
}

static CUresult in_another_thread(CUresult (*call)(void))
{
	there_call = call;
	in_thread(call_there);
	return there_result;
}

/* A call in another thread that does not disturb a relaxed capture on a non-blocking stream. */
static void permits(CUresult (*call)(void))
{
	address = words();
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(launch("nothing", stream, NULL));
	OK(in_another_thread(call));
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 1);
}

static void CUDA_CB ignore(CUstream of, CUresult now, void *data)
{
	(void)of, (void)now, (void)data;
}

static CUresult synchronise_stream(void)
{
	return cuStreamSynchronize(stream);
}
static CUresult query_stream(void)
{
	return cuStreamQuery(stream);
}
static CUresult synchronise_context(void)
{
	return cuCtxSynchronize();
}
static CUresult add_callback(void)
{
	return cuStreamAddCallback(stream, ignore, NULL, 0);
}
static CUresult synchronise_other(void)
{
	return cuStreamSynchronize(other);
}
static CUresult query_legacy(void)
{
	return cuStreamQuery(NULL);
}
static CUresult set_legacy(void)
{
	return cuMemsetD8(address, 0, 4);
}

static CUresult copy_legacy(void)
{
	unsigned value;

	return cuMemcpyDtoH(&value, address, sizeof(value));
}

static CUresult record_legacy(void)
{
	CUevent event;
	CUresult result = cuEventCreate(&event, 0);

	if (result == CUDA_SUCCESS)
		result = cuEventRecord(event, NULL);
	if (result == CUDA_SUCCESS)
		result = cuEventSynchronize(event);
	return result == CUDA_SUCCESS ? cuEventDestroy(event) : result;
}

static CUresult allocate_and_free(void)
{
	CUdeviceptr made;
	CUresult result = cuMemAlloc(&made, 4096);

	return result == CUDA_SUCCESS ? cuMemFree(made) : result;
}

static CUresult record_context(void)
{
	CUevent event;
	CUresult result = cuEventCreate(&event, 0);

	if (result == CUDA_SUCCESS) {
		result = cuCtxRecordEvent(context, event);
		cuEventDestroy(event);
	}
	return result;
}

static CUresult wait_context(void)
{
	CUevent event = event_new(0);

	return cuCtxWaitEvent(context, event);
}

static CUdeviceptr managed;

static CUresult attach(void)
{
	return cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE);
}

static CUresult upload(void)
{
	return cuGraphUpload(exec, stream);
}

static void a_capture_prohibits_uploads(void)
{
	CUgraph empty;

	OK(cuGraphCreate(&empty, 0));
	OK(cuGraphInstantiate(&exec, empty, 0));
	prohibits(upload);
	OK(cuGraphDestroy(empty));
}

static void an_impossible_launch_invalidates_a_capture(void)
{
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	EXPECT(cuLaunchKernel(function("nothing"), 0, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
	       CUDA_ERROR_INVALID_VALUE);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	EXPECT(cuLaunchKernel(function("nothing"), 0, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
	       CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void a_wait_for_an_ended_capture_invalidates_another(void)
{
	CUevent inside = event_new(0);

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuEventRecord(inside, stream));
	capture_end();
	EXPECT(cuEventQuery(inside), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuEventSynchronize(inside), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(graph));
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	EXPECT(cuStreamWaitEvent(stream, inside, 0), CUDA_ERROR_INVALID_VALUE);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	graph = NULL;
}

static void a_capture_prohibits_waiting_in_its_context(void)
{
	prohibits(wait_context);
}

static void a_capture_prohibits_attaching_memory(void)
{
	OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
	prohibits(attach);
	OK(cuMemFree(managed));
}

static void a_capture_prohibits_synchronising_its_stream(void)
{
	prohibits(synchronise_stream);
}
static void a_capture_prohibits_querying_its_stream(void)
{
	prohibits(query_stream);
}
static void a_capture_prohibits_synchronising_its_context(void)
{
	prohibits(synchronise_context);
}
static void a_capture_prohibits_callbacks(void)
{
	prohibits(add_callback);
}
static void a_capture_prohibits_recording_its_context(void)
{
	prohibits(record_context);
}
static void a_relaxed_capture_permits_synchronising_other_streams(void)
{
	permits(synchronise_other);
}
static void a_relaxed_capture_permits_querying_the_legacy_stream(void)
{
	permits(query_legacy);
}
static void a_relaxed_capture_permits_legacy_memsets(void)
{
	permits(set_legacy);
}
static void a_relaxed_capture_permits_legacy_copies(void)
{
	permits(copy_legacy);
}
static void a_relaxed_capture_permits_legacy_records_and_waits(void)
{
	permits(record_legacy);
}
static void a_relaxed_capture_permits_allocation(void)
{
	permits(allocate_and_free);
}

static void a_capture_prohibits_synchronising_from_another_thread(void)
{
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	EXPECT(in_another_thread(synchronise_context), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void a_blocking_capture_prohibits_the_legacy_stream(CUresult (*call)(void))
{
	CUstream blocking = blocking_stream();

	address = words();
	OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT(call(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	EXPECT(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	TRUE(graph == NULL);
}

static CUresult launch_legacy(void)
{
	return launch("nothing", NULL, NULL);
}
static CUresult synchronise_legacy(void)
{
	return cuStreamSynchronize(NULL);
}

static void a_blocking_capture_prohibits_legacy_launches(void)
{
	a_blocking_capture_prohibits_the_legacy_stream(launch_legacy);
}
static void a_blocking_capture_prohibits_legacy_synchronisation(void)
{
	a_blocking_capture_prohibits_the_legacy_stream(synchronise_legacy);
}
static void a_blocking_capture_prohibits_legacy_queries(void)
{
	a_blocking_capture_prohibits_the_legacy_stream(query_legacy);
}
static void a_blocking_capture_prohibits_synchronous_memsets(void)
{
	a_blocking_capture_prohibits_the_legacy_stream(set_legacy);
}
static void a_blocking_capture_prohibits_synchronous_copies(void)
{
	a_blocking_capture_prohibits_the_legacy_stream(copy_legacy);
}

static void a_blocking_capture_hides_the_legacy_status(void)
{
	CUstream blocking = blocking_stream();
	CUstreamCaptureStatus active;

	OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT(cuStreamIsCapturing(NULL, &active), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	OK(cuStreamEndCapture(blocking, &graph));
}

static void an_invalidated_capture_refuses_everything(void)
{
	CUevent event = event_new(0);
	CUstreamCaptureStatus active;

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(launch("nothing", stream, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	EXPECT(cuEventRecord(event, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuStreamGetCaptureInfo(stream, &active, NULL, NULL, NULL, NULL, NULL));
	EQUAL(active, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
}

static void an_invalidated_capture_prohibits_what_it_did(void)
{
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static CUresult prefetch(void)
{
	return cuMemPrefetchAsync(managed, 4096, (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE},
	                          0, stream);
}

static void a_capture_prohibits_prefetching(void)
{
	OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
	prohibits(prefetch);
	OK(cuMemFree(managed));
}

/* A launch that fails with the error and invalidates the capture. */
static void is_impossible(CUresult result, CUresult wanted)
{
	EXPECT(result, wanted);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void a_launch_beyond_the_limits_invalidates_a_capture(void)
{
	CUfunction nothing = function("nothing");

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	is_impossible(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 1 << 20, stream, NULL, NULL),
	              CUDA_ERROR_INVALID_VALUE);
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	is_impossible(cuLaunchKernel(nothing, 1, 1, 1, 2000, 1, 1, 0, stream, NULL, NULL),
	              CUDA_ERROR_INVALID_VALUE);
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	is_impossible(cuLaunchCooperativeKernel(nothing, 1 << 20, 1, 1, 32, 1, 1, 0, stream, NULL),
	              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

static void a_wait_for_no_event_invalidates_a_capture(void)
{
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	EXPECT(cuStreamWaitEvent(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void other_refused_calls_leave_a_capture_valid(void)
{
	CUdeviceptr source = words(), made;
	CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .srcDevice = source,
	                       .srcPitch = 1,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstDevice = words(),
	                       .dstPitch = 64,
	                       .WidthInBytes = 16,
	                       .Height = 4};

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	EXPECT(cuLaunchKernel(function("append"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
	       CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuMemcpy2DAsync(&plane, stream), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoDAsync(source, 0, 64, stream), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD32Async(source + 1, 0, 1, stream), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchHostFunc(stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamAddCallback(stream, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamWriteValue32(stream, source + 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuEventRecord(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuMemAllocAsync(&made, (size_t)1 << 46, stream), CUDA_ERROR_OUT_OF_MEMORY);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 0);
}

static void a_memset_beyond_its_memory_is_captured(void)
{
	CUdeviceptr target = words();

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuMemsetD8Async(target, 0, 1 << 20, stream));
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
}

static void a_relaxed_capture_permits_querying_other_streams(void)
{
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuStreamQuery(other));
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
}

static void a_relaxed_capture_permits_questions(void)
{
	size_t unused, total;
	int value;

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuMemGetInfo(&unused, &total));
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function("nothing")));
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function("nothing"), 32, 0));
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
}

#define PROHIBITED "Programming Guide, CUDA Graphs, Prohibited and Unhandled Operations"
#define INVALIDATION "Programming Guide, CUDA Graphs, Invalidation"
#define SILENT MEASURED(PROHIBITED, "names neither this call nor its error")

const struct check prohibited_checks[] = {
	CHECK(a_capture_prohibits_synchronising_its_stream, PROHIBITED),
	CHECK(a_capture_prohibits_querying_its_stream, PROHIBITED),
	CHECK(a_capture_prohibits_synchronising_its_context, SILENT),
	CHECK(a_capture_prohibits_synchronising_from_another_thread, SILENT),
	CHECK(a_capture_prohibits_callbacks, "Stream Management: cuStreamAddCallback"),
	CHECK(a_capture_prohibits_recording_its_context, SILENT),
	CHECK(a_capture_prohibits_waiting_in_its_context, SILENT),
	CHECK(a_capture_prohibits_uploads, SILENT),
	CHECK(a_capture_prohibits_attaching_memory, SILENT),
	CHECK(an_impossible_launch_invalidates_a_capture, SILENT),
	CHECK(a_wait_for_an_ended_capture_invalidates_another, SILENT),
	CHECK(a_relaxed_capture_permits_synchronising_other_streams, SILENT),
	CHECK(a_relaxed_capture_permits_querying_the_legacy_stream, SILENT),
	CHECK(a_relaxed_capture_permits_legacy_memsets, SILENT),
	CHECK(a_relaxed_capture_permits_legacy_copies, SILENT),
	CHECK(a_relaxed_capture_permits_legacy_records_and_waits, SILENT),
	CHECK(a_relaxed_capture_permits_allocation, SILENT),
	CHECK(a_blocking_capture_prohibits_legacy_launches, PROHIBITED),
	CHECK(a_blocking_capture_prohibits_legacy_synchronisation, PROHIBITED),
	CHECK(a_blocking_capture_prohibits_legacy_queries, PROHIBITED),
	CHECK(a_blocking_capture_prohibits_synchronous_memsets, PROHIBITED),
	CHECK(a_blocking_capture_prohibits_synchronous_copies, PROHIBITED),
	CHECK(a_blocking_capture_hides_the_legacy_status, "Stream Management: cuStreamIsCapturing"),
	CHECK(an_invalidated_capture_refuses_everything, INVALIDATION),
	CHECK(an_invalidated_capture_prohibits_what_it_did,
          MEASURED(INVALIDATION, "any use of the streams is invalid and gives an error")),
	CHECK(a_capture_prohibits_prefetching, SILENT),
	CHECK(a_launch_beyond_the_limits_invalidates_a_capture, SILENT),
	CHECK(a_wait_for_no_event_invalidates_a_capture, SILENT),
	CHECK(other_refused_calls_leave_a_capture_valid, SILENT),
	CHECK(a_memset_beyond_its_memory_is_captured,
          MEASURED("Memory Management: cuMemsetD8Async", "CUDA_ERROR_INVALID_VALUE")),
	CHECK(a_relaxed_capture_permits_querying_other_streams, PROHIBITED),
	CHECK(a_relaxed_capture_permits_questions, SILENT),
	CHECKS_END,
};
