/* Faults on demand: the call asked for fails, without effect, and no other. */
#include <time.h>

#include "sim_test.h"

START_TEST(the_nth_call_fails_and_the_next_one_works)
{
	CUdeviceptr address;

	setenv("SIM_FAULT", "cuMemAlloc_v2:2=2", 1);
	start();
	CU(cuMemAlloc(&address, 64));
	ck_assert_int_eq(cuMemAlloc(&address, 64), CUDA_ERROR_OUT_OF_MEMORY);
	CU(cuMemAlloc(&address, 64));
}
END_TEST

START_TEST(a_glob_names_several_entry_points)
{
	CUdeviceptr list;

	setenv("SIM_FAULT", "cuMemset*:every=2,cuStreamCreate:from-3=1", 1);
	start();
	CU(cuMemAlloc(&list, 64));
	ck_assert_int_eq(cuMemsetD32(list, 0, 1), CUDA_ERROR_OUT_OF_MEMORY);
	ck_assert_int_eq(cuMemsetD8Async(list, 0, 1, stream), CUDA_ERROR_OUT_OF_MEMORY);
	ck_assert_int_eq(cuStreamCreate(&other, 0), CUDA_ERROR_INVALID_VALUE);
	ck_assert_int_eq(cuStreamCreate(&other, 0), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(an_injected_invalidation_invalidates)
{
	CUdeviceptr list;
	CUgraph graph;

	setenv("SIM_FAULT", "cuLaunchKernel:1=901,cuStreamEndCapture:2=901", 1);
	start();
	list = words();
	CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	ck_assert_int_eq(append(list, 1, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	ck_assert_int_eq(append(list, 1, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	ck_assert_int_eq(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	ck_assert_int_eq(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	CU(append(list, 1, stream));
}
END_TEST

START_TEST(every_third_call_fails)
{
	CUdeviceptr address;

	setenv("SIM_FAULT", "cuMemAlloc_v2:2+3=2", 1);
	start();
	for (unsigned call = 1; call <= 9; call++)
		ck_assert_int_eq(cuMemAlloc(&address, 64),
		                 call % 3 == 2 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
}
END_TEST

START_TEST(the_first_calls_fail_and_the_next_one_works)
{
	CUdeviceptr address;

	setenv("SIM_FAULT", "cuMemAlloc_v2:to-2=2", 1);
	start();
	ck_assert_int_eq(cuMemAlloc(&address, 64), CUDA_ERROR_OUT_OF_MEMORY);
	ck_assert_int_eq(cuMemAlloc(&address, 64), CUDA_ERROR_OUT_OF_MEMORY);
	CU(cuMemAlloc(&address, 64));
}
END_TEST

static long microseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

START_TEST(the_first_calls_are_slow)
{
	CUdeviceptr address;
	long begin, computed;

	setenv("SIM_SLOW", "cuMemAlloc*:30000:2", 1);
	start();
	begin = microseconds(CLOCK_MONOTONIC);
	CU(cuMemAlloc(&address, 64));
	CU(cuMemAlloc(&address, 64));
	ck_assert_int_ge(microseconds(CLOCK_MONOTONIC) - begin, 60000);
	computed = microseconds(CLOCK_THREAD_CPUTIME_ID); /* no matter of what else the machine does */
	for (unsigned int i = 0; i < 1000; i++)
		CU(cuMemAlloc(&address, 64));
	ck_assert_int_lt(microseconds(CLOCK_THREAD_CPUTIME_ID) - computed, 5000000);
}
END_TEST

RUN("faults", every_third_call_fails, the_first_calls_fail_and_the_next_one_works,
    the_first_calls_are_slow, the_nth_call_fails_and_the_next_one_works,
    a_glob_names_several_entry_points, an_injected_invalidation_invalidates)
