/* Which work waits for which: legacy, per-thread, blocking and non-blocking streams, host
 * functions, words in memory. */
#include "conformance.h"

#include <pthread.h>

static void a_stream_keeps_its_order(void)
{
	CUdeviceptr list = words();
	unsigned i;

	for (i = 1; i <= 50; i++)
		OK(append(list, i, stream));
	finish(stream);
	is_list(list, 50);
}

static void blocking_streams_and_the_legacy_stream_take_turns(void)
{
	CUstream first = blocking_stream(), second = blocking_stream();
	CUdeviceptr list = words();

	hold(first);
	OK(append(list, 1, first));
	OK(append(list, 2, NULL));
	OK(append(list, 3, second));
	EXPECT(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	EXPECT(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
	release();
	finish(second);
	is_list(list, 3);
}

static void non_blocking_streams_do_not_wait_for_the_legacy_stream(void)
{
	CUdeviceptr list = words();

	hold(NULL);
	OK(append(list, 1, stream));
	finish(stream);
	EXPECT(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	release();
	finish(NULL);
	is_list(list, 1);
}

static void the_legacy_stream_does_not_wait_for_non_blocking_streams(void)
{
	CUdeviceptr list = words();

	hold(stream);
	OK(append(list, 1, NULL));
	finish(NULL);
	EXPECT(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	release();
	finish(stream);
	is_list(list, 1);
}

static void the_per_thread_stream_waits_for_the_legacy_stream(void)
{
	CUdeviceptr list = words();

	hold(NULL);
	OK(append(list, 1, CU_STREAM_PER_THREAD));
	EXPECT(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
	release();
	finish(CU_STREAM_PER_THREAD);
	is_list(list, 1);
}

static void the_legacy_stream_has_a_handle(void)
{
	CUdeviceptr list = words();

	OK(append(list, 1, NULL));
	OK(append(list, 2, CU_STREAM_LEGACY));
	OK(append(list, 3, NULL));
	finish(CU_STREAM_LEGACY);
	is_list(list, 3);
}

static void streams_run_beside_each_other(void)
{
	CUdeviceptr flag = words();
	unsigned one = 1;
	void *params[] = {&flag, &one};

	OK(launch("wait_flag", stream, params));
	OK(launch("set_flag", other, params));
	finish(stream);
	finish(other);
}

static void an_event_orders_two_streams(void)
{
	CUdeviceptr list = words();
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);

	hold(stream);
	OK(append(list, 1, stream));
	OK(cuEventRecord(event, stream));
	OK(cuStreamWaitEvent(other, event, 0));
	OK(append(list, 2, other));
	EXPECT(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	release();
	finish(other);
	is_list(list, 2);
}

static void a_wait_is_for_the_latest_record(void)
{
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);

	OK(cuEventRecord(event, stream));
	OK(cuStreamWaitEvent(other, event, 0));
	hold(stream);
	OK(cuEventRecord(event, stream));
	finish(other);
	OK(cuStreamWaitEvent(other, event, 0));
	EXPECT(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	release();
	finish(other);
}

static void an_event_never_recorded_makes_nothing_wait(void)
{
	OK(cuStreamWaitEvent(stream, event_new(0), 0));
	finish(stream);
}

static void a_wait_takes_known_flags(void)
{
	CUevent event = event_new(0);

	OK(cuEventRecord(event, other));
	EXPECT(cuStreamWaitEvent(stream, event, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamWaitEvent(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
}

static void external_waits_need_a_capture(void)
{
	CUevent event = event_new(0);

	OK(cuEventRecord(event, other));
	EXPECT(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
}

static unsigned calls;
static CUresult inside, callback_status;
static pthread_t caller;

static void CUDA_CB count_call(void *list)
{
	volatile unsigned *words = list;

	caller = pthread_self();
	calls++;
	words[++words[0]] = calls * 2;
}

static void host_functions_take_their_turn(void)
{
	volatile unsigned *list = pinned();
	CUdeviceptr device = (CUdeviceptr)(uintptr_t)list;

	calls = 0;
	OK(append(device, 1, stream));
	OK(cuLaunchHostFunc(stream, count_call, (void *)(uintptr_t)list));
	OK(append(device, 3, stream));
	OK(cuLaunchHostFunc(stream, count_call, (void *)(uintptr_t)list));
	finish(stream);
	EQUAL(list[0], 4);
	EQUAL(list[1], 1);
	EQUAL(list[2], 2);
	EQUAL(list[3], 3);
	EQUAL(list[4], 4);
}

static void CUDA_CB call_cuda(void *unused)
{
	CUdeviceptr address;

	(void)unused;
	inside = cuMemAlloc(&address, 64);
}

static void host_functions_may_not_call_cuda(void)
{
	inside = CUDA_SUCCESS;
	OK(cuLaunchHostFunc(stream, call_cuda, NULL));
	finish(stream);
	EXPECT(inside, CUDA_ERROR_NOT_PERMITTED);
}

static void a_host_function_is_needed(void)
{
	EXPECT(cuLaunchHostFunc(stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamAddCallback(stream, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

static void CUDA_CB note_status(CUstream of, CUresult status_now, void *seen)
{
	callback_status = status_now;
	*(CUstream *)seen = of;
}

static void callbacks_are_told_stream_and_status(void)
{
	CUstream seen = NULL;

	callback_status = CUDA_ERROR_UNKNOWN;
	OK(cuStreamAddCallback(stream, note_status, &seen, 0));
	finish(stream);
	OK(callback_status);
	TRUE(seen == stream);
	EXPECT(cuStreamAddCallback(stream, note_status, &seen, 1), CUDA_ERROR_INVALID_VALUE);
}

static void words_are_written_in_order(void)
{
	CUdeviceptr target = words();

	OK(cuStreamWriteValue32(stream, target, 7, 0));
	OK(cuStreamWriteValue64(stream, target + 8, 0x900000008ull, 0));
	finish(stream);
	EQUAL(word(target, 0), 7);
	EQUAL(word(target, 2), 8);
	EQUAL(word(target, 3), 9);
}

static void a_stream_waits_for_a_word(void)
{
	CUdeviceptr target = words(), list = words();

	OK(cuStreamWaitValue32(stream, target, 3, CU_STREAM_WAIT_VALUE_GEQ));
	OK(append(list, 1, stream));
	EXPECT(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	OK(cuStreamWriteValue32(other, target, 4, 0));
	finish(stream);
	finish(other);
	is_list(list, 1);
}

static void words_are_aligned(void)
{
	CUdeviceptr target = words();

	EXPECT(cuStreamWriteValue32(stream, target + 1, 7, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamWaitValue32(stream, target + 2, 7, 0), CUDA_ERROR_INVALID_VALUE);
}

#define STREAM "Stream Management: "
#define SYNC "Stream synchronization behavior: "

const struct check order_checks[] = {
	CHECK(a_stream_keeps_its_order, "Programming Guide, Streams"),
	CHECK(blocking_streams_and_the_legacy_stream_take_turns, SYNC "Legacy default stream"),
	CHECK(non_blocking_streams_do_not_wait_for_the_legacy_stream, SYNC "Legacy default stream"),
	CHECK(the_legacy_stream_does_not_wait_for_non_blocking_streams, SYNC "Legacy default stream"),
	CHECK(the_per_thread_stream_waits_for_the_legacy_stream, SYNC "Per-thread default stream"),
	CHECK(the_legacy_stream_has_a_handle, SYNC "Legacy default stream"),
	CHECK(streams_run_beside_each_other, "Programming Guide, Streams, Concurrent Kernel Execution"),
	CHECK(an_event_orders_two_streams, STREAM "cuStreamWaitEvent"),
	CHECK(a_wait_is_for_the_latest_record, "Event Management: cuEventRecord"),
	CHECK(an_event_never_recorded_makes_nothing_wait, STREAM "cuStreamWaitEvent"),
	CHECK(a_wait_takes_known_flags, STREAM "cuStreamWaitEvent"),
	CHECK(external_waits_need_a_capture,
          MEASURED(STREAM "cuStreamWaitEvent",
                   "invalid outside of stream capture, with no error named")),
	CHECK(host_functions_take_their_turn, "Execution Control: cuLaunchHostFunc"),
	CHECK(host_functions_may_not_call_cuda, "Execution Control: cuLaunchHostFunc"),
	CHECK(a_host_function_is_needed, "Execution Control: cuLaunchHostFunc"),
	CHECK(callbacks_are_told_stream_and_status, STREAM "cuStreamAddCallback"),
	CHECK(words_are_written_in_order, "Stream Memory Operations: cuStreamWriteValue32"),
	CHECK(a_stream_waits_for_a_word, "Stream Memory Operations: cuStreamWaitValue32"),
	CHECK(words_are_aligned, "Stream Memory Operations: cuStreamWriteValue32"),
	CHECKS_END,
};
