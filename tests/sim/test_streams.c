/* Streams, events, host functions: the order that holds, and no other. */
#include "sim_test.h"

#include <pthread.h>

START_TEST(work_of_one_stream_runs_in_order)
{
	CUdeviceptr list;
	unsigned i;

	start();
	list = words();
	for (i = 1; i <= 20; i++)
		CU(append(list, i, stream));
	CU(cuStreamSynchronize(stream));
	assert_list(list, 20);
}
END_TEST

START_TEST(an_event_orders_two_streams)
{
	CUdeviceptr list;
	CUevent event;
	unsigned i;

	start();
	list = words();
	CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (i = 1; i <= 20; i += 2) {
		CU(append(list, i, stream));
		CU(cuEventRecord(event, stream));
		CU(cuStreamWaitEvent(other, event, 0));
		CU(append(list, i + 1, other));
		CU(cuEventRecord(event, other));
		CU(cuStreamWaitEvent(stream, event, 0));
	}
	CU(cuStreamSynchronize(stream));
	assert_list(list, 20);
}
END_TEST

START_TEST(the_legacy_stream_waits_for_blocking_streams_and_they_for_it)
{
	CUdeviceptr list;
	CUstream blocking, another;
	unsigned i;

	start();
	list = words();
	CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	CU(cuStreamCreate(&another, CU_STREAM_DEFAULT));
	for (i = 1; i <= 20; i += 4) {
		CU(append(list, i, blocking));
		CU(append(list, i + 1, NULL));
		CU(append(list, i + 2, another));
		CU(append(list, i + 3, CU_STREAM_LEGACY));
	}
	CU(cuCtxSynchronize());
	assert_list(list, 20);
}
END_TEST

START_TEST(kernels_of_two_streams_can_wait_for_each_other)
{
	CUdeviceptr flags;

	start();
	flags = words();
	CU(wait_flag(flags, 1, flags + 8, stream));
	CU(set_flag(flags + 4, 1, stream));
	CU(set_flag(flags, 1, other));
	CU(wait_flag(flags + 4, 1, flags + 12, other));
	CU(cuStreamSynchronize(stream));
	CU(cuStreamSynchronize(other));
	ck_assert_uint_eq(word(flags, 2), 1);
	ck_assert_uint_eq(word(flags, 3), 1);
}
END_TEST

START_TEST(a_kernel_can_wait_for_a_flag_that_the_host_sets_after_its_last_call)
{
	volatile unsigned *flag;

	start();
	CU(cuMemHostAlloc((void **)&flag, 64, CU_MEMHOSTALLOC_DEVICEMAP));
	flag[0] = flag[1] = 0;
	CU(wait_flag((CUdeviceptr)(uintptr_t)flag, 1, (CUdeviceptr)(uintptr_t)(flag + 1), stream));
	flag[0] = 1;
	while (flag[1] == 0)
		;
	CU(cuStreamSynchronize(stream));
}
END_TEST

START_TEST(the_host_can_poll_mapped_memory_without_a_call)
{
	volatile unsigned *flag;

	start();
	CU(cuMemHostAlloc((void **)&flag, 64, CU_MEMHOSTALLOC_DEVICEMAP));
	flag[0] = 0;
	CU(set_flag((CUdeviceptr)(uintptr_t)flag, 1, stream));
	while (flag[0] == 0)
		;
}
END_TEST

START_TEST(polling_ends)
{
	CUdeviceptr list;
	CUevent event;

	start();
	list = words();
	CU(cuEventCreate(&event, CU_EVENT_DEFAULT));
	CU(append(list, 1, stream));
	CU(cuEventRecord(event, stream));
	while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
		;
	CU(append(list, 2, stream));
	while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
		;
	assert_list(list, 2);
}
END_TEST

START_TEST(elapsed_time_covers_the_work_between)
{
	CUevent begin, end;
	CUdeviceptr list;
	float ms;
	int i;

	start();
	list = words();
	CU(cuEventCreate(&begin, CU_EVENT_DEFAULT));
	CU(cuEventCreate(&end, CU_EVENT_DEFAULT));
	ck_assert_int_eq(cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_INVALID_HANDLE);
	CU(cuEventRecord(begin, stream));
	for (i = 0; i < 10; i++)
		CU(append(list, 1, stream));
	CU(cuEventRecord(end, stream));
	CU(cuEventSynchronize(end));
	CU(cuEventElapsedTime(&ms, begin, end));
	ck_assert(ms >= 0.010f);
}
END_TEST

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int called;

static void lock_and_count(void *refused)
{
	int ignored;

	pthread_mutex_lock(&mutex);
	called++;
	pthread_mutex_unlock(&mutex);
	*(CUresult *)refused = cuDeviceGetCount(&ignored);
}

START_TEST(a_host_function_may_need_a_lock_that_the_program_holds_and_may_not_call_cuda)
{
	CUresult refused = CUDA_SUCCESS;

	start();
	pthread_mutex_lock(&mutex);
	CU(cuLaunchHostFunc(stream, lock_and_count, &refused));
	pthread_mutex_unlock(&mutex);
	CU(cuStreamSynchronize(stream));
	ck_assert_int_eq(called, 1);
	ck_assert_int_eq(refused, CUDA_ERROR_NOT_PERMITTED);
}
END_TEST

START_TEST(a_fault_is_sticky)
{
	CUdeviceptr list;

	start();
	list = words();
	CU(launch("fault", stream, NULL));
	ck_assert_int_eq(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
	ck_assert_int_eq(cuMemsetD32Async(list, 0, 1, stream), CUDA_ERROR_LAUNCH_FAILED);
	ck_assert_int_eq(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
	CU(cuDevicePrimaryCtxReset(0));
	CU(cuMemAlloc(&list, 4));
}
END_TEST

START_TEST(a_stream_destroyed_finishes_its_work_and_its_handle_is_refused)
{
	CUdeviceptr list;

	start();
	list = words();
	CU(append(list, 1, other));
	CU(cuStreamDestroy(other));
	ck_assert_int_eq(append(list, 2, other), CUDA_ERROR_INVALID_HANDLE);
	CU(cuCtxSynchronize());
	while (word(list, 0) == 0)
		;
	assert_list(list, 1);
}
END_TEST

START_TEST(functions_and_streams_belong_to_their_context)
{
	CUcontext second;
	CUstream there;

	start();
	CU(cuCtxCreate(&second, NULL, 0, 0));
	CU(cuStreamCreate(&there, 0));
	CU(cuCtxPopCurrent(NULL));
	ck_assert_int_eq(launch("nothing", there, NULL), CUDA_ERROR_INVALID_HANDLE);
	CU(cuCtxDestroy(second));
	ck_assert_int_eq(cuCtxPushCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
}
END_TEST

START_TEST(the_version_asked_for_is_the_one_given)
{
	CUdriverProcAddressQueryResult status;
	void *first, *second, *per_thread;

	CU(cuGetProcAddress("cuCtxSynchronize", &first, 12000, 0, &status));
	CU(cuGetProcAddress("cuCtxSynchronize", &second, 13000, 0, &status));
	ck_assert_ptr_ne(first, second);
	ck_assert_ptr_eq(first, (void *)cuCtxSynchronize);
	CU(cuGetProcAddress("cuLaunchKernel", &first, 13000, 0, &status));
	CU(cuGetProcAddress("cuLaunchKernel", &per_thread, 13000,
	                    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
	ck_assert_ptr_ne(first, per_thread);
	CU(cuGetProcAddress("cuNoSuchThing", &first, 13000, 0, &status));
	ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	CU(cuGetProcAddress("cuGraphLaunch", &first, 9000, 0, &status));
	ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}
END_TEST

RUN("streams", work_of_one_stream_runs_in_order, an_event_orders_two_streams,
    the_legacy_stream_waits_for_blocking_streams_and_they_for_it,
    kernels_of_two_streams_can_wait_for_each_other,
    a_kernel_can_wait_for_a_flag_that_the_host_sets_after_its_last_call,
    the_host_can_poll_mapped_memory_without_a_call, polling_ends,
    elapsed_time_covers_the_work_between,
    a_host_function_may_need_a_lock_that_the_program_holds_and_may_not_call_cuda, a_fault_is_sticky,
    a_stream_destroyed_finishes_its_work_and_its_handle_is_refused,
    functions_and_streams_belong_to_their_context, the_version_asked_for_is_the_one_given)
