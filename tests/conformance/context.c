/* Primary and created contexts, and the stack of each thread. */
#include "conformance.h"

static CUcontext current(void)
{
	CUcontext found = (CUcontext)1;

	OK(cuCtxGetCurrent(&found));
	return found;
}

static CUcontext create(unsigned int flags)
{
	CUcontext made;

	OK(cuCtxCreate(&made, NULL, flags, 0));
	return made;
}

static void the_primary_context_is_one(void)
{
	CUcontext again;

	OK(cuDevicePrimaryCtxRetain(&again, 0));
	TRUE(again == context);
	OK(cuDevicePrimaryCtxRelease(0));
	TRUE(current() == context);
}

static void the_primary_context_is_active_while_retained(void)
{
	CUcontext primary;
	unsigned int flags;
	int active = 9;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EQUAL(active, 0);
	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EQUAL(active, 1);
	OK(cuDevicePrimaryCtxRelease(0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EQUAL(active, 0);
}

static void a_primary_context_not_retained_cannot_be_released(void)
{
	OK(cuInit(0));
	EXPECT(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}

static void retaining_does_not_make_current(void)
{
	CUcontext primary;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	TRUE(current() == NULL);
}

static void the_primary_context_needs_a_device(void)
{
	CUcontext primary;

	EXPECT(cuDevicePrimaryCtxRetain(&primary, 999), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuDevicePrimaryCtxRetain(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

static void flags_of_the_primary_context_may_be_set_before_it_is_active(void)
{
	unsigned int flags = 0;
	int active;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EQUAL(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
}

static void a_created_context_is_current(void)
{
	CUcontext made = create(0);

	TRUE(made != context);
	TRUE(current() == made);
	OK(cuCtxDestroy(made));
	TRUE(current() == context);
}

static void a_context_needs_a_device_and_known_flags(void)
{
	CUcontext made;

	EXPECT(cuCtxCreate(&made, NULL, 0, 999), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuCtxCreate(&made, NULL, 0x8000, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuCtxCreate(NULL, NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

static void contexts_are_pushed_and_popped(void)
{
	CUcontext made = create(0), popped = NULL;

	OK(cuCtxPushCurrent(context));
	TRUE(current() == context);
	OK(cuCtxPopCurrent(&popped));
	TRUE(popped == context);
	TRUE(current() == made);
	OK(cuCtxPopCurrent(&popped));
	TRUE(popped == made);
	TRUE(current() == context);
	OK(cuCtxDestroy(made));
}

static void setting_replaces_the_top_of_the_stack(void)
{
	CUcontext made = create(0), popped;

	OK(cuCtxSetCurrent(context));
	OK(cuCtxPopCurrent(&popped));
	TRUE(popped == context);
	TRUE(current() == context);
	OK(cuCtxDestroy(made));
}

static void setting_none_pops(void)
{
	CUcontext made = create(0);

	OK(cuCtxSetCurrent(NULL));
	TRUE(current() == context);
	OK(cuCtxDestroy(made));
}

static CUresult results[4];
static CUcontext found;

static void look_without_context(void)
{
	CUdeviceptr address;
	CUcontext popped;
	CUdevice device;

	found = (CUcontext)1;
	results[0] = cuCtxGetCurrent(&found);
	results[1] = cuMemAlloc(&address, 64);
	results[2] = cuCtxPopCurrent(&popped);
	results[3] = cuCtxGetDevice(&device);
}

static void a_new_thread_has_no_context(void)
{
	in_thread_without_context(look_without_context);
	OK(results[0]);
	TRUE(found == NULL);
	EXPECT(results[1], CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(results[2], CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(results[3], CUDA_ERROR_INVALID_CONTEXT);
}

static void leave_context_current(void)
{
	results[0] = cuCtxPushCurrent(context);
	results[1] = cuCtxGetCurrent(&found);
}

static void a_context_may_be_current_in_several_threads(void)
{
	in_thread_without_context(leave_context_current);
	OK(results[0]);
	OK(results[1]);
	TRUE(found == context);
	TRUE(current() == context);
}

static void a_destroyed_context_leaves_the_primary_usable(void)
{
	CUdeviceptr list = words();

	OK(cuCtxDestroy(create(0)));
	OK(append(list, 1, stream));
	finish(stream);
	is_list(list, 1);
}

static void flags_of_a_context_are_kept(void)
{
	CUcontext made = create(CU_CTX_SCHED_BLOCKING_SYNC);
	unsigned int flags = 0;

	OK(cuCtxGetFlags(&flags));
	EQUAL(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
	OK(cuCtxDestroy(made));
}

static void contexts_have_ids_of_their_own(void)
{
	CUcontext made = create(0);
	unsigned long long first = 0, second = 0, again = 0;

	OK(cuCtxGetId(context, &first));
	OK(cuCtxGetId(made, &second));
	OK(cuCtxGetId(NULL, &again));
	TRUE(first != second);
	EQUAL(again, second);
	OK(cuCtxDestroy(made));
}

static void a_context_has_a_device_and_a_version(void)
{
	unsigned int version = 0;
	CUdevice device = 9;

	OK(cuCtxGetDevice(&device));
	EQUAL(device, 0);
	OK(cuCtxGetApiVersion(context, &version));
	TRUE(version >= 3020);
}

static void limits_are_kept(void)
{
	CUcontext made = create(0);
	size_t value = 0;

	OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
	OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
	TRUE(value >= 4096);
	OK(cuCtxDestroy(made));
}

static void an_unknown_limit_is_invalid(void)
{
	size_t value;

	EXPECT(cuCtxGetLimit(&value, (CUlimit)999), CUDA_ERROR_INVALID_VALUE);
}

static void limits_have_a_least_value(void)
{
	CUcontext made = create(0);
	size_t value = 0;

	OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 128));
	OK(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
	TRUE(value > 128);
	EXPECT(cuCtxSetLimit((CUlimit)999, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxDestroy(made));
}

static void the_runtime_on_the_device_does_not_synchronise(void)
{
	size_t value;

	EXPECT(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH), CUDA_ERROR_UNSUPPORTED_LIMIT);
	EXPECT(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2), CUDA_ERROR_UNSUPPORTED_LIMIT);
}

static void an_event_and_a_stream_share_a_context(void)
{
	CUcontext made = create(0);
	CUevent event;

	OK(cuEventCreate(&event, 0));
	EXPECT(cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventDestroy(event));
	OK(cuCtxDestroy(made));
}

static void a_stream_waits_for_an_event_of_another_context(void)
{
	CUcontext made = create(0);
	CUevent event;

	OK(cuEventCreate(&event, 0));
	OK(cuEventRecord(event, NULL));
	OK(cuStreamWaitEvent(stream, event, 0));
	finish(stream);
	OK(cuEventDestroy(event));
	OK(cuCtxDestroy(made));
}

static void a_function_and_a_stream_share_a_context(void)
{
	CUcontext made = create(0);
	CUstream theirs;

	OK(cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING));
	EXPECT(launch("nothing", theirs, NULL), CUDA_ERROR_INVALID_HANDLE);
	OK(cuStreamDestroy(theirs));
	OK(cuCtxDestroy(made));
}

static void synchronising_waits_for_every_stream(void)
{
	CUdeviceptr list = words(), second = words();

	OK(append(list, 1, stream));
	OK(append(second, 1, other));
	OK(cuCtxSynchronize());
	OK(cuStreamQuery(stream));
	OK(cuStreamQuery(other));
	is_list(list, 1);
	is_list(second, 1);
}

#define CONTEXT "Context Management: "
#define PRIMARY "Primary Context Management: "

const struct check context_checks[] = {
	CHECK(the_primary_context_is_one, PRIMARY "cuDevicePrimaryCtxRetain"),
	CHECK_ALONE(the_primary_context_is_active_while_retained, PRIMARY "cuDevicePrimaryCtxGetState",
                NO_CONTEXT),
	CHECK_ALONE(a_primary_context_not_retained_cannot_be_released,
                PRIMARY "cuDevicePrimaryCtxRelease", NO_CONTEXT),
	CHECK_ALONE(retaining_does_not_make_current, PRIMARY "cuDevicePrimaryCtxRetain", NO_CONTEXT),
	CHECK(the_primary_context_needs_a_device, PRIMARY "cuDevicePrimaryCtxRetain"),
	CHECK_ALONE(flags_of_the_primary_context_may_be_set_before_it_is_active,
                PRIMARY "cuDevicePrimaryCtxSetFlags", NO_CONTEXT),
	CHECK(a_created_context_is_current, CONTEXT "cuCtxCreate, cuCtxDestroy"),
	CHECK(a_context_needs_a_device_and_known_flags, CONTEXT "cuCtxCreate"),
	CHECK(contexts_are_pushed_and_popped, CONTEXT "cuCtxPushCurrent, cuCtxPopCurrent"),
	CHECK(setting_replaces_the_top_of_the_stack, CONTEXT "cuCtxSetCurrent"),
	CHECK(setting_none_pops, CONTEXT "cuCtxSetCurrent"),
	CHECK(a_new_thread_has_no_context, CONTEXT "cuCtxGetCurrent"),
	CHECK(a_context_may_be_current_in_several_threads, CONTEXT "cuCtxPushCurrent"),
	CHECK(a_destroyed_context_leaves_the_primary_usable, CONTEXT "cuCtxDestroy"),
	CHECK(flags_of_a_context_are_kept, CONTEXT "cuCtxGetFlags"),
	CHECK(contexts_have_ids_of_their_own, CONTEXT "cuCtxGetId"),
	CHECK(a_context_has_a_device_and_a_version, CONTEXT "cuCtxGetDevice, cuCtxGetApiVersion"),
	CHECK(limits_are_kept, CONTEXT "cuCtxSetLimit"),
	CHECK(an_unknown_limit_is_invalid,
          MEASURED(CONTEXT "cuCtxGetLimit", "CUDA_ERROR_UNSUPPORTED_LIMIT")),
	CHECK(limits_have_a_least_value, CONTEXT "cuCtxSetLimit"),
	CHECK(the_runtime_on_the_device_does_not_synchronise,
          CONTEXT "cuCtxSetLimit, of devices from compute capability 9.0"),
	CHECK(an_event_and_a_stream_share_a_context, "Event Management: cuEventRecord"),
	CHECK(a_stream_waits_for_an_event_of_another_context, "Stream Management: cuStreamWaitEvent"),
	CHECK(a_function_and_a_stream_share_a_context, "Execution Control: cuLaunchKernel"),
	CHECK(synchronising_waits_for_every_stream, CONTEXT "cuCtxSynchronize"),
	CHECKS_END,
};
