/* Stream capture: what becomes a node, what is prohibited, and what each mistake returns. */
#include "sim_test.h"

#include <pthread.h>

static CUgraph graph;

static void begin(CUstreamCaptureMode mode)
{
	CU(cuStreamBeginCapture(stream, mode));
}

static CUstreamCaptureStatus status(CUstream of)
{
	CUstreamCaptureStatus status;

	CU(cuStreamIsCapturing(of, &status));
	return status;
}

START_TEST(captured_work_does_not_run_until_it_is_launched)
{
	CUdeviceptr list;
	CUgraphExec exec;
	size_t count;

	start();
	list = words();
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	CU(append(list, 1, stream));
	CU(append(list, 2, stream));
	CU(cuStreamEndCapture(stream, &graph));
	CU(cuGraphGetNodes(graph, NULL, &count));
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(word(list, 0), 0);
	CU(cuGraphInstantiate(&exec, graph, 0));
	CU(cuGraphLaunch(exec, stream));
	CU(cuStreamSynchronize(stream));
	assert_list(list, 2);
}
END_TEST

START_TEST(a_fork_becomes_edges)
{
	CUgraphNode from[8], to[8];
	CUevent fork, join;
	CUdeviceptr list;
	size_t edges = 8;

	start();
	list = words();
	CU(cuEventCreate(&fork, 0));
	CU(cuEventCreate(&join, 0));
	begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	CU(append(list, 1, stream));
	CU(cuEventRecord(fork, stream));
	CU(cuStreamWaitEvent(other, fork, 0));
	ck_assert_int_eq(status(other), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	CU(append(list, 2, other));
	CU(append(list, 3, stream));
	CU(cuEventRecord(join, other));
	CU(cuStreamWaitEvent(stream, join, 0));
	CU(append(list, 4, stream));
	CU(cuStreamEndCapture(stream, &graph));
	ck_assert_int_eq(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
	CU(cuGraphGetEdges(graph, from, to, NULL, &edges));
	ck_assert_uint_eq(edges, 4);
}
END_TEST

START_TEST(work_not_joined_is_an_error)
{
	CUdeviceptr list;
	CUevent fork;

	start();
	list = words();
	CU(cuEventCreate(&fork, 0));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	CU(cuEventRecord(fork, stream));
	CU(cuStreamWaitEvent(other, fork, 0));
	CU(append(list, 2, other));
	ck_assert_int_eq(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
	ck_assert_ptr_null(graph);
	ck_assert_int_eq(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
	CU(append(list, 1, stream));
}
END_TEST

START_TEST(synchronising_a_capturing_stream_invalidates_its_capture)
{
	CUdeviceptr list;

	start();
	list = words();
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	ck_assert_int_eq(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	ck_assert_int_eq(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	ck_assert_int_eq(append(list, 1, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	ck_assert_int_eq(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	CU(append(list, 1, stream));
	CU(cuStreamSynchronize(stream));
	assert_list(list, 1);
}
END_TEST

START_TEST(an_unsafe_call_depends_on_the_mode)
{
	CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUdeviceptr address;

	start();
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	CU(cuMemAlloc(&address, 64));
	CU(cuStreamEndCapture(stream, &graph));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	CU(cuThreadExchangeStreamCaptureMode(&relaxed));
	ck_assert_int_eq(relaxed, CU_STREAM_CAPTURE_MODE_GLOBAL);
	CU(cuMemAlloc(&address, 64));
	CU(cuThreadExchangeStreamCaptureMode(&relaxed));
	ck_assert_int_eq(cuMemAlloc(&address, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	ck_assert_int_eq(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}
END_TEST

static CUresult results[2];

static void *call_from_another_thread(void *unused)
{
	CUdeviceptr address;

	cuCtxSetCurrent(context);
	results[0] = cuMemAlloc(&address, 64);
	results[1] = cuStreamEndCapture(stream, &graph);
	return NULL;
}

static void in_another_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call_from_another_thread, NULL);
	pthread_join(thread, NULL);
}

START_TEST(a_global_capture_binds_other_threads)
{
	start();
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	in_another_thread();
	ck_assert_int_eq(results[0], CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	ck_assert_int_eq(results[1], CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	ck_assert_int_eq(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
}
END_TEST

START_TEST(a_thread_local_capture_does_not)
{
	start();
	begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	in_another_thread();
	CU(results[0]);
	ck_assert_int_eq(results[1], CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
}
END_TEST

START_TEST(the_legacy_stream_is_neither_captured_nor_used_beside_a_blocking_capture)
{
	CUstream blocking;
	CUdeviceptr list;

	start();
	list = words();
	ck_assert_int_eq(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
	                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	CU(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
	ck_assert_int_eq(append(list, 1, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	ck_assert_int_eq(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(events_do_not_pass_into_or_between_captures)
{
	CUevent outside, inside;

	start();
	CU(cuEventCreate(&outside, 0));
	CU(cuEventCreate(&inside, 0));
	CU(cuEventRecord(outside, other));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	ck_assert_int_eq(cuStreamWaitEvent(stream, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	ck_assert_int_eq(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	CU(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CU(cuEventRecord(inside, stream));
	ck_assert_int_eq(cuEventQuery(inside), CUDA_ERROR_CAPTURED_EVENT);
	ck_assert_int_eq(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	CU(cuEventRecord(inside, stream));
	ck_assert_int_eq(cuStreamWaitEvent(other, inside, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
}
END_TEST

START_TEST(capture_info_tells_the_graph_and_what_comes_next_depends_on)
{
	const CUgraphNode *nodes;
	CUstreamCaptureStatus active;
	CUgraph building;
	CUdeviceptr list;
	cuuint64_t id;
	size_t count;

	start();
	list = words();
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	CU(append(list, 1, stream));
	CU(cuStreamGetCaptureInfo(stream, &active, &id, &building, &nodes, NULL, &count));
	ck_assert_int_eq(active, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	ck_assert_uint_eq(count, 1);
	CU(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0,
	                                     CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	CU(append(list, 2, stream));
	CU(cuStreamEndCapture(stream, &graph));
}
END_TEST

RUN("capture", captured_work_does_not_run_until_it_is_launched, a_fork_becomes_edges,
    work_not_joined_is_an_error, synchronising_a_capturing_stream_invalidates_its_capture,
    an_unsafe_call_depends_on_the_mode, a_global_capture_binds_other_threads,
    a_thread_local_capture_does_not,
    the_legacy_stream_is_neither_captured_nor_used_beside_a_blocking_capture,
    events_do_not_pass_into_or_between_captures,
    capture_info_tells_the_graph_and_what_comes_next_depends_on)
