/* Potentially unsafe calls: prohibited or not by the capture's mode, the thread, and the thread's
 * own mode. */
#include "conformance.h"

static CUevent event;
static CUmodule unloaded; /* once the capture is over */
static CUresult there_result;

static CUresult allocate(void)
{
	CUdeviceptr address;
	CUresult result = cuMemAlloc(&address, 4096);

	if (result == CUDA_SUCCESS)
		cuMemFree(address);
	return result;
}

static CUresult query_event(void)
{
	return cuEventQuery(event);
}

static CUresult query_stream(void)
{
	return cuStreamQuery(other);
}

static CUresult await_stream(void)
{
	return cuStreamSynchronize(other);
}

static CUresult (*there_call)(void);

static void call_there(void)
{
	there_result = there_call();
}

static void call_there_relaxed(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	cuThreadExchangeStreamCaptureMode(&mode);
	there_result = there_call();
}

/* The call, here or in another thread, beside a capture in the mode: prohibited, or harmless. */
static void beside(CUstreamCaptureMode mode, CUresult (*call)(void), void (*there)(void),
                   bool prohibited)
{
	event = event_new(0);
	OK(cuEventRecord(event, other));
	finish(other);
	begin(mode);
	there_call = call;
	if (there)
		in_thread(there);
	else
		there_result = call();
	EXPECT(there_result, prohibited ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS);
	end_is(prohibited ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
}

#define GLOBAL_MODE CU_STREAM_CAPTURE_MODE_GLOBAL
#define LOCAL_MODE CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED_MODE CU_STREAM_CAPTURE_MODE_RELAXED

static void global_prohibits_allocation_here(void)
{
	beside(GLOBAL_MODE, allocate, NULL, true);
}
static void global_prohibits_allocation_there(void)
{
	beside(GLOBAL_MODE, allocate, call_there, true);
}
static void global_permits_allocation_in_a_relaxed_thread(void)
{
	beside(GLOBAL_MODE, allocate, call_there_relaxed, false);
}
static void thread_local_prohibits_allocation_here(void)
{
	beside(LOCAL_MODE, allocate, NULL, true);
}
static void thread_local_permits_allocation_there(void)
{
	beside(LOCAL_MODE, allocate, call_there, false);
}
static void relaxed_permits_allocation_here(void)
{
	beside(RELAXED_MODE, allocate, NULL, false);
}
static void relaxed_permits_allocation_there(void)
{
	beside(RELAXED_MODE, allocate, call_there, false);
}
static void global_prohibits_querying_events_here(void)
{
	beside(GLOBAL_MODE, query_event, NULL, true);
}
static void global_prohibits_querying_events_there(void)
{
	beside(GLOBAL_MODE, query_event, call_there, true);
}
static void thread_local_permits_querying_events_there(void)
{
	beside(LOCAL_MODE, query_event, call_there, false);
}
static void relaxed_permits_querying_events_here(void)
{
	beside(RELAXED_MODE, query_event, NULL, false);
}

static void global_prohibits_querying_other_streams_here(void)
{
	beside(GLOBAL_MODE, query_stream, NULL, true);
}
static void global_prohibits_querying_other_streams_there(void)
{
	beside(GLOBAL_MODE, query_stream, call_there, true);
}
static void global_permits_querying_other_streams_in_a_relaxed_thread(void)
{
	beside(GLOBAL_MODE, query_stream, call_there_relaxed, false);
}
static void thread_local_permits_querying_other_streams_there(void)
{
	beside(LOCAL_MODE, query_stream, call_there, false);
}
static void relaxed_permits_querying_other_streams_here(void)
{
	beside(RELAXED_MODE, query_stream, NULL, false);
}
static void global_prohibits_waiting_for_other_streams_there(void)
{
	beside(GLOBAL_MODE, await_stream, call_there, true);
}
static void thread_local_permits_waiting_for_other_streams_there(void)
{
	beside(LOCAL_MODE, await_stream, call_there, false);
}

static CUresult load_module(void)
{
	CUmodule loaded;
	CUresult result = cuModuleLoad(&loaded, module_path);

	unloaded = result == CUDA_SUCCESS ? loaded : NULL;
	return result;
}

static void global_permits_loading_modules(void)
{
	beside(GLOBAL_MODE, load_module, NULL, false);
	OK(cuModuleUnload(unloaded));
}

static void a_relaxed_thread_may_allocate_beside_its_own_capture(void)
{
	CUstreamCaptureMode mode = RELAXED_MODE;

	begin(GLOBAL_MODE);
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	OK(allocate());
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	capture_end();
}

static void a_thread_local_thread_may_allocate_beside_another_capture(void)
{
	CUstreamCaptureMode mode = LOCAL_MODE;

	begin(RELAXED_MODE);
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	OK(allocate());
	capture_end();
}

static void global_prohibits_unloading_modules(void)
{
	CUmodule loaded;

	OK(cuModuleLoad(&loaded, module_path));
	begin(GLOBAL_MODE);
	EXPECT(cuModuleUnload(loaded), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuModuleUnload(loaded));
}

#define MODES "Stream Management: cuThreadExchangeStreamCaptureMode"

#define UNLISTED MEASURED(MODES, "does not list the calls that may be unsafe")

const struct check unsafe_checks[] = {
	CHECK(global_prohibits_allocation_here, MODES),
	CHECK(global_prohibits_allocation_there, MODES),
	CHECK(global_permits_allocation_in_a_relaxed_thread, MODES),
	CHECK(thread_local_prohibits_allocation_here, MODES),
	CHECK(thread_local_permits_allocation_there, MODES),
	CHECK(relaxed_permits_allocation_here, MODES),
	CHECK(relaxed_permits_allocation_there, MODES),
	CHECK(global_prohibits_querying_events_here, MODES),
	CHECK(global_prohibits_querying_events_there, MODES),
	CHECK(thread_local_permits_querying_events_there, MODES),
	CHECK(relaxed_permits_querying_events_here, MODES),
	CHECK(global_prohibits_querying_other_streams_here, UNLISTED),
	CHECK(global_prohibits_querying_other_streams_there, UNLISTED),
	CHECK(global_permits_querying_other_streams_in_a_relaxed_thread, MODES),
	CHECK(thread_local_permits_querying_other_streams_there, MODES),
	CHECK(relaxed_permits_querying_other_streams_here, MODES),
	CHECK(global_prohibits_waiting_for_other_streams_there, UNLISTED),
	CHECK(thread_local_permits_waiting_for_other_streams_there, MODES),
	CHECK(global_permits_loading_modules, UNLISTED),
	CHECK(a_relaxed_thread_may_allocate_beside_its_own_capture, MODES),
	CHECK(a_thread_local_thread_may_allocate_beside_another_capture, MODES),
	CHECK(global_prohibits_unloading_modules, UNLISTED),
	CHECKS_END,
};
