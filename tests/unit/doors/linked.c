/* A program that links libcuda.so.1 in the ordinary way: its calls go through the exported names.
 */
#include "harness.h"

#include <string.h>

/* By label, so that cuda.h has no say in their names and types. */
#define LINKED(name) extern fake_function linked_##name __asm__(#name)

LINKED(cuCtxDisablePeerAccess);
LINKED(cuCtxSetLimit);
LINKED(cuCtxSynchronize_v2);
LINKED(cuDeviceGraphMemTrim);
LINKED(cuDevicePrimaryCtxSetFlags_v2);
LINKED(cuEGLStreamConsumerDisconnect);
LINKED(cuEGLStreamConsumerReleaseFrame);
LINKED(cuEGLStreamProducerDisconnect);
LINKED(cuGraphLaunch);
LINKED(cuGLUnmapBufferObject);
LINKED(cuGLUnmapBufferObjectAsync);
LINKED(cuGraphicsUnmapResources);
LINKED(cuGraphicsUnmapResources_ptsz);
LINKED(cuGraphicsUnregisterResource);
LINKED(cuLaunchCooperativeKernelMultiDevice);
LINKED(cuLaunchHostFunc_v2);
LINKED(cuLaunchHostFunc_v2_ptsz);
LINKED(cuLaunchKernel);
LINKED(cuLaunchKernel_ptsz);
LINKED(cuLaunchKernelEx);
LINKED(cuMemAllocAsync_ptsz);
LINKED(cuMemFree_v2);
LINKED(cuMemPoolTrimTo);
LINKED(cuMemcpyBatchAsync);
LINKED(cuMemcpyBatchAsync_ptsz);
LINKED(cuMemcpyDtoH_v2_ptds);
LINKED(cuMemcpyHtoDAsync_v2);
LINKED(cuMemsetD2D16Async_ptsz);
LINKED(cuModuleUnload);
LINKED(cuParamSetf);
LINKED(cuPointerSetAttribute);
LINKED(cuStreamBeginCapture_v2);
LINKED(cuStreamBeginCapture_v2_ptsz);
LINKED(cuStreamEndCapture);
LINKED(cuStreamSetAttribute_ptsz);
LINKED(cuStreamSynchronize);

START_TEST(every_argument_survives_the_first_call)
{
	call_with_everything(linked_cuParamSetf);
	assert_everything_arrived("cuParamSetf");
	call_with_everything(linked_cuParamSetf);
	assert_everything_arrived("cuParamSetf");
	ck_assert_uint_eq(driver_log()->calls, 2);
}
END_TEST

START_TEST(every_argument_survives_a_barrier_with_something_deferred)
{
	defer_something();
	call_with_everything(linked_cuParamSetf);
	assert_everything_arrived("cuParamSetf");
	ck_assert_uint_eq(preloaded_rooms()->syncs, 1);
	call_with_everything(linked_cuMemcpyBatchAsync);
	assert_everything_arrived("cuMemcpyBatchAsync");
	call_with_everything(linked_cuModuleUnload);
	ck_assert_str_eq(driver_log()->name, "cuModuleUnload");
}
END_TEST

START_TEST(an_error_of_the_loaders_survives_first_calls)
{
	call_with_everything(linked_cuStreamSynchronize);
	ck_assert_ptr_null(dlopen("/nowhere/at-all.so", RTLD_LAZY));
	call_with_everything(linked_cuGraphLaunch);
	call_with_everything(linked_cuParamSetf);
	call_with_everything(linked_cuModuleUnload);
	ck_assert_ptr_nonnull(strstr(dlerror(), "/nowhere/at-all.so"));
}
END_TEST

START_TEST(a_barrier_with_nothing_deferred_tells_nobody)
{
	call_with_everything(linked_cuGraphLaunch);
	call_with_everything(linked_cuParamSetf);
	call_with_everything(linked_cuStreamSynchronize);
	ck_assert_uint_eq(preloaded_rooms()->orders, 0);
	ck_assert_uint_eq(preloaded_rooms()->syncs, 0);
	ck_assert_uint_eq(driver_log()->calls, 3);
}
END_TEST

static void assert_unwound_to_main(void)
{
	const struct rooms *rooms = preloaded_rooms();
	Dl_info here;
	Dl_info frame;
	int in_program = 0;

	ck_assert(dladdr((void *)call_with_everything, &here) != 0);
	for (int i = 0; i < rooms->frame_count; i++) {
		if (dladdr(rooms->frames[i], &frame) != 0 && frame.dli_fbase == here.dli_fbase)
			in_program++;
	}
	ck_assert_int_ge(in_program, 4); /* the call, the test, what runs it, main */
}

START_TEST(a_debugger_sees_through_the_doors)
{
	defer_something();
	preloaded_rooms()->unwind = true;
	call_with_everything(linked_cuParamSetf);
	assert_unwound_to_main();
	call_with_everything(linked_cuStreamSynchronize);
	assert_unwound_to_main();
}
END_TEST

START_TEST(an_order_names_its_stream)
{
	struct rooms *rooms = preloaded_rooms();

	defer_something();
	call_with_everything(linked_cuGraphLaunch);
	ck_assert_uint_eq(rooms->orders, 1);
	ck_assert_uint_eq((uintptr_t)rooms->stream, INTEGER(2));
	ck_assert(!rooms->per_thread);
	call_with_everything(linked_cuMemcpyBatchAsync_ptsz); /* its stream is on the stack */
	ck_assert_uint_eq((uintptr_t)rooms->stream, INTEGER(9));
	ck_assert(rooms->per_thread);
}
END_TEST

/* Words are as wide as the function has them. */
static void assert_arrived(const char *name, unsigned int count, uint64_t width)
{
	const struct fake_log *log = driver_log();

	ck_assert_str_eq(log->name, name);
	ck_assert_uint_eq(log->integers[0], INTEGER(1));
	for (unsigned int i = 1; i < count; i++)
		ck_assert_uint_eq(log->integers[i] & width, INTEGER(i + 1) & width);
}

/* Of its second version nobody knows how many arguments it has: six go on. */
START_TEST(a_host_function_comes_behind_its_stream_and_counts_as_the_hosts)
{
	struct rooms *rooms = preloaded_rooms();

	defer_something();
	call_with_everything(linked_cuLaunchHostFunc_v2);
	assert_arrived("cuLaunchHostFunc_v2", 6, UINT64_MAX);
	ck_assert_uint_eq(rooms->orders, 1);
	ck_assert_uint_eq(rooms->callbacks, 1);
	ck_assert_uint_eq((uintptr_t)rooms->stream, INTEGER(1));
	ck_assert(!rooms->per_thread);
	call_with_everything(linked_cuLaunchHostFunc_v2_ptsz);
	assert_arrived("cuLaunchHostFunc_v2_ptsz", 6, UINT64_MAX);
	ck_assert_uint_eq(rooms->orders, 2);
	ck_assert_uint_eq(rooms->callbacks, 2);
	ck_assert(rooms->per_thread);
}
END_TEST

START_TEST(a_launch_on_several_devices_comes_behind_everything)
{
	struct rooms *rooms = preloaded_rooms();

	defer_something();
	call_with_everything(linked_cuLaunchCooperativeKernelMultiDevice);
	assert_arrived("cuLaunchCooperativeKernelMultiDevice", 3, UINT32_MAX);
	ck_assert_uint_eq(rooms->syncs, 1);
	ck_assert_uint_eq(rooms->sync, REPRISE_SYNC_UNKNOWN);
}
END_TEST

START_TEST(a_lifetime_is_always_told_and_names_its_handle)
{
	struct rooms *rooms = preloaded_rooms();
	CUresult (*set)(CUstream, int, void *) = (void *)linked_cuStreamSetAttribute_ptsz;

	call_with_everything(linked_cuModuleUnload);
	ck_assert_uint_eq(rooms->lifetimes, 1);
	ck_assert_uint_eq(rooms->what, REPRISE_LIFETIME_CODE);
	ck_assert_uint_eq(rooms->handle, INTEGER(1));
	ck_assert_uint_eq(rooms->lifetimes_ended, 1);
	ck_assert_uint_eq(rooms->what_ended, REPRISE_LIFETIME_CODE);
	ck_assert_uint_eq(rooms->handle_ended, INTEGER(1));
	call_with_everything(linked_cuPointerSetAttribute);
	ck_assert_uint_eq(rooms->lifetimes_ended, 2);
	ck_assert_uint_eq(rooms->what, REPRISE_LIFETIME_MEMORY);
	ck_assert_uint_eq(rooms->handle, INTEGER(3));
	ck_assert_uint_eq(rooms->handle_ended, 0); /* only a first argument is kept for that */
	set(NULL, 0, NULL);
	ck_assert_uint_eq(rooms->what, REPRISE_LIFETIME_ATTRIBUTES);
	ck_assert_uint_eq(rooms->handle, (uintptr_t)CU_STREAM_PER_THREAD);
	ck_assert_uint_eq(rooms->handle_ended, (uintptr_t)CU_STREAM_PER_THREAD);
}
END_TEST

/* After the call a handle is named only where it is the first argument: no other is the handle. */
START_TEST(each_lifetime_names_its_handle_before_and_after)
{
	static const struct {
		const char *name;
		unsigned int handle;
	} entries[] = {
#define RECORD(name, ...)
#define ORDER(name, ...)
#define SYNC(name, ...)
#define LIFETIME(name, what, handle, ...) {#name, handle},
#define OWN(name, ...)
#define ALLOC(name, ...)
#define NO_DOOR(name, ...)
#include "../../../preload/entry_points.def"
	};
	struct rooms *rooms = preloaded_rooms();

	for (unsigned int i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		unsigned int handle = entries[i].handle;

		call_with_everything(dlsym(driver(), entries[i].name));
		ck_assert_str_eq(driver_log()->name, entries[i].name);
		ck_assert_uint_eq(rooms->lifetimes, i + 1);
		ck_assert_uint_eq(rooms->lifetimes_ended, i + 1);
		ck_assert_uint_eq(rooms->what_ended, rooms->what);
		ck_assert_msg(rooms->handle == (handle > 0 ? INTEGER(handle) : 0), "%s", entries[i].name);
		ck_assert_msg(rooms->handle_ended == (handle == 1 ? INTEGER(1) : 0), "%s", entries[i].name);
	}
}
END_TEST

START_TEST(limits_and_peer_access_change_what_every_trace_runs_with)
{
	struct rooms *rooms = preloaded_rooms();
	fake_function *const calls[] = {linked_cuCtxSetLimit, linked_cuCtxDisablePeerAccess};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		call_with_everything(calls[i]);
		ck_assert_uint_eq(rooms->lifetimes, i + 1);
		ck_assert_uint_eq(rooms->what, REPRISE_LIFETIME_CODE);
		ck_assert_uint_eq(rooms->handle, 0);
	}
}
END_TEST

START_TEST(an_address_that_is_unmapped_or_trimmed_may_come_back_as_another_kind)
{
	struct rooms *rooms = preloaded_rooms();
	fake_function *const calls[] = {linked_cuMemPoolTrimTo, linked_cuDeviceGraphMemTrim,
	                                linked_cuGLUnmapBufferObject,
	                                linked_cuGLUnmapBufferObjectAsync};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		call_with_everything(calls[i]);
		ck_assert_uint_eq(rooms->lifetimes, i + 1);
		ck_assert_uint_eq(rooms->what, REPRISE_LIFETIME_MEMORY);
	}
}
END_TEST

START_TEST(what_graphics_shared_may_have_been_arrays)
{
	struct rooms *rooms = preloaded_rooms();
	fake_function *const calls[] = {linked_cuGraphicsUnmapResources,
	                                linked_cuGraphicsUnmapResources_ptsz,
	                                linked_cuGraphicsUnregisterResource,
	                                linked_cuEGLStreamConsumerReleaseFrame,
	                                linked_cuEGLStreamConsumerDisconnect,
	                                linked_cuEGLStreamProducerDisconnect};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		call_with_everything(calls[i]);
		ck_assert_uint_eq(rooms->lifetimes, i + 1);
		ck_assert_uint_eq(rooms->what, REPRISE_LIFETIME_ARRAYS);
		ck_assert_uint_eq(rooms->lifetimes_ended, i + 1);
		ck_assert_uint_eq(rooms->what_ended, REPRISE_LIFETIME_ARRAYS);
	}
}
END_TEST

START_TEST(a_sync_says_what_it_observes)
{
	struct rooms *rooms = preloaded_rooms();

	defer_something();
	call_with_everything(linked_cuStreamSynchronize);
	ck_assert_uint_eq(rooms->sync, REPRISE_SYNC_STREAM);
	ck_assert_uint_eq(rooms->handle, INTEGER(1));
	call_with_everything(linked_cuMemcpyDtoH_v2_ptds);
	ck_assert_uint_eq(rooms->sync, REPRISE_SYNC_DEFAULT);
	ck_assert_uint_eq(rooms->handle, 0);
	ck_assert(rooms->per_thread);
	call_with_everything(linked_cuCtxSynchronize_v2);
	ck_assert_uint_eq(rooms->sync, REPRISE_SYNC_CONTEXT);
	ck_assert_uint_eq(rooms->handle, INTEGER(1));
}
END_TEST

START_TEST(the_flags_of_a_primary_context_end_no_context)
{
	defer_something();
	call_with_everything(linked_cuDevicePrimaryCtxSetFlags_v2);
	ck_assert_uint_eq(preloaded_rooms()->syncs, 1);
	ck_assert_uint_eq(preloaded_rooms()->lifetimes, 0);
}
END_TEST

START_TEST(a_checked_door_shows_failures_and_returns_them)
{
	struct rooms *rooms = preloaded_rooms();

	driver_log()->result = CUDA_SUCCESS;
	ck_assert_uint_eq(call_with_everything(linked_cuStreamSynchronize), CUDA_SUCCESS);
	ck_assert_uint_eq(rooms->observed, 0);
	driver_log()->result = CUDA_ERROR_ILLEGAL_ADDRESS;
	ck_assert_uint_eq(call_with_everything(linked_cuStreamSynchronize), CUDA_ERROR_ILLEGAL_ADDRESS);
	ck_assert_uint_eq(rooms->observed, 1);
	defer_something();
	ck_assert_uint_eq(call_with_everything(linked_cuMemFree_v2), CUDA_ERROR_ILLEGAL_ADDRESS);
	ck_assert_uint_eq(rooms->observed, 2);
	ck_assert_uint_eq(rooms->result, CUDA_ERROR_ILLEGAL_ADDRESS);
	ck_assert_uint_eq(driver_log()->integers[0], INTEGER(1));
}
END_TEST

START_TEST(a_wait_that_is_told_of_an_error_is_not_made)
{
	struct rooms *rooms = preloaded_rooms();

	defer_something();
	rooms->answer = CUDA_ERROR_OUT_OF_MEMORY;
	ck_assert_uint_eq(call_with_everything(linked_cuStreamSynchronize), CUDA_ERROR_OUT_OF_MEMORY);
	ck_assert_uint_eq(call_with_everything(linked_cuMemcpyDtoH_v2_ptds), CUDA_ERROR_OUT_OF_MEMORY);
	ck_assert_uint_eq(call_with_everything(linked_cuCtxSynchronize_v2), CUDA_ERROR_OUT_OF_MEMORY);
	ck_assert_uint_eq(driver_log()->calls, 0);
	rooms->answer = CUDA_SUCCESS;
	call_with_everything(linked_cuStreamSynchronize);
	ck_assert_uint_eq(driver_log()->calls, 1);
	ck_assert_uint_eq(driver_log()->integers[0], INTEGER(1));
}
END_TEST

START_TEST(what_finds_no_memory_is_called_again)
{
	struct rooms *rooms = preloaded_rooms();

	driver_log()->result = CUDA_ERROR_INVALID_VALUE;
	ck_assert_uint_eq(call_with_everything(linked_cuMemAllocAsync_ptsz), CUDA_ERROR_INVALID_VALUE);
	ck_assert_uint_eq(driver_log()->calls, 1);
	ck_assert_uint_eq(rooms->memory_shortages, 0);
	defer_something();
	driver_log()->result = CUDA_ERROR_OUT_OF_MEMORY;
	ck_assert_uint_eq(call_with_everything(linked_cuMemAllocAsync_ptsz), CUDA_ERROR_OUT_OF_MEMORY);
	ck_assert_uint_eq(rooms->memory_shortages, 1);
	ck_assert_uint_eq(driver_log()->calls, 4);
	ck_assert_str_eq(driver_log()->name, "cuMemAllocAsync_ptsz");
	for (unsigned int i = 1; i <= 3; i++)
		ck_assert_uint_eq(driver_log()->integers[i - 1], INTEGER(i));
	ck_assert_uint_eq(rooms->orders, 1);
	ck_assert_uint_eq((uintptr_t)rooms->stream, INTEGER(3));
	ck_assert(rooms->per_thread);
}
END_TEST

START_TEST(a_launch_is_an_op_with_its_arguments)
{
	struct rooms *rooms = preloaded_rooms();

	call_with_everything(linked_cuLaunchKernel_ptsz);
	ck_assert_uint_eq(rooms->ops, 1);
	ck_assert_uint_eq(driver_log()->calls, 0);
	ck_assert(rooms->call.per_thread);
	ck_assert_uint_eq((uintptr_t)rooms->call.kernel.function, INTEGER(1));
	ck_assert_uint_eq(rooms->call.kernel.grid[2], (unsigned int)INTEGER(4));
	ck_assert_uint_eq(rooms->call.kernel.block[0], (unsigned int)INTEGER(5));
	ck_assert_uint_eq(rooms->call.kernel.shared_bytes, (unsigned int)INTEGER(8));
	ck_assert_uint_eq((uintptr_t)rooms->call.stream, INTEGER(9));
	ck_assert_uint_eq((uintptr_t)rooms->call.kernel.params, INTEGER(10));
	ck_assert_uint_eq((uintptr_t)rooms->call.kernel.extra, INTEGER(11));
	ck_assert_ptr_null(rooms->call.kernel.config);
}
END_TEST

START_TEST(an_eager_launch_reaches_the_entry_point_it_named)
{
	preloaded_rooms()->eager = true;
	driver_log()->result = CUDA_ERROR_INVALID_VALUE;
	ck_assert_uint_eq(call_with_everything(linked_cuLaunchKernel_ptsz), CUDA_ERROR_INVALID_VALUE);
	ck_assert_str_eq(driver_log()->name, "cuLaunchKernel_ptsz");
	ck_assert_uint_eq(driver_log()->integers[0], INTEGER(1));
	for (unsigned int i = 2; i <= 8; i++)
		ck_assert_uint_eq((unsigned int)driver_log()->integers[i - 1], (unsigned int)INTEGER(i));
	for (unsigned int i = 9; i <= 11; i++)
		ck_assert_uint_eq(driver_log()->integers[i - 1], INTEGER(i));
}
END_TEST

START_TEST(a_launch_by_configuration_keeps_it)
{
	struct rooms *rooms = preloaded_rooms();
	CUlaunchConfig config = {.gridDimX = 3,
	                         .blockDimY = 5,
	                         .sharedMemBytes = 7,
	                         .hStream = (CUstream)9};
	CUresult (*launch)(const CUlaunchConfig *, CUfunction, void **, void **) =
		(void *)linked_cuLaunchKernelEx;

	launch(&config, (CUfunction)11, (void **)13, (void **)17);
	ck_assert_ptr_eq(rooms->call.kernel.config, &config);
	ck_assert_uint_eq(rooms->config.gridDimX, 3);
	ck_assert_uint_eq(rooms->call.kernel.grid[0], 3);
	ck_assert_uint_eq(rooms->call.kernel.block[1], 5);
	ck_assert_uint_eq((uintptr_t)rooms->call.stream, 9);
	launch(NULL, (CUfunction)11, NULL, NULL); /* for the driver to refuse */
	ck_assert_uint_eq(rooms->ops, 1);
	ck_assert_str_eq(driver_log()->name, "cuLaunchKernelEx");
}
END_TEST

START_TEST(copies_and_memsets_are_ops)
{
	struct rooms *rooms = preloaded_rooms();

	rooms->eager = true;
	call_with_everything(linked_cuMemcpyHtoDAsync_v2);
	ck_assert_uint_eq(rooms->call.kind, REPRISE_OP_COPY);
	ck_assert_uint_eq(rooms->call.copy.form, REPRISE_COPY_HOST_TO_DEVICE);
	for (unsigned int i = 1; i <= 4; i++)
		ck_assert_uint_eq(driver_log()->integers[i - 1], INTEGER(i));
	call_with_everything(linked_cuMemsetD2D16Async_ptsz);
	ck_assert_str_eq(driver_log()->name, "cuMemsetD2D16Async_ptsz");
	ck_assert_uint_eq(rooms->call.set.element_bytes, 2);
	ck_assert_uint_eq(rooms->call.set.height, INTEGER(5));
	ck_assert_uint_eq((unsigned short)driver_log()->integers[2], (unsigned short)INTEGER(3));
	ck_assert_uint_eq(driver_log()->integers[5], INTEGER(6));
}
END_TEST

START_TEST(doors_say_nothing_while_reprise_is_inside)
{
	struct rooms *rooms = preloaded_rooms();

	call_with_everything(linked_cuGraphLaunch); /* so that everything has been looked up */
	defer_something();
	*rooms->inside() = 1;
	call_with_everything(linked_cuGraphLaunch);
	call_with_everything(linked_cuModuleUnload);
	call_with_everything(linked_cuLaunchKernel);
	call_with_everything(linked_cuStreamBeginCapture_v2);
	*rooms->inside() = 0;
	ck_assert_uint_eq(rooms->orders + rooms->lifetimes + rooms->ops + rooms->begins, 0);
	ck_assert_uint_eq(driver_log()->calls, 5);
}
END_TEST

START_TEST(a_capture_is_announced_and_its_end_too)
{
	struct rooms *rooms = preloaded_rooms();
	CUresult (*begin)(CUstream, int) = (void *)linked_cuStreamBeginCapture_v2_ptsz;

	call_with_everything(linked_cuStreamBeginCapture_v2);
	ck_assert_uint_eq(rooms->begins, 1);
	ck_assert_uint_eq(rooms->ends, 0);
	ck_assert_uint_eq((uintptr_t)rooms->stream, INTEGER(1));
	call_with_everything(linked_cuStreamEndCapture);
	ck_assert_uint_eq(rooms->ends, 1);
	begin(NULL, 0);
	ck_assert_ptr_eq(rooms->stream, CU_STREAM_PER_THREAD);
}
END_TEST

START_TEST(a_capture_that_fails_to_begin_has_ended)
{
	driver_log()->result = CUDA_ERROR_ILLEGAL_STATE;
	call_with_everything(linked_cuStreamBeginCapture_v2);
	ck_assert_uint_eq(preloaded_rooms()->begins, 1);
	ck_assert_uint_eq(preloaded_rooms()->ends, 1);
}
END_TEST

START_TEST(a_capture_goes_on_if_the_wrong_thread_ends_it)
{
	call_with_everything(linked_cuStreamBeginCapture_v2);
	driver_log()->result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	driver_log()->capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	call_with_everything(linked_cuStreamEndCapture);
	ck_assert_uint_eq(preloaded_rooms()->ends, 0);
}
END_TEST

START_TEST(a_capture_that_is_begun_twice_goes_on_once)
{
	call_with_everything(linked_cuStreamBeginCapture_v2);
	driver_log()->result = CUDA_ERROR_ILLEGAL_STATE;
	driver_log()->capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	call_with_everything(linked_cuStreamBeginCapture_v2);
	ck_assert_uint_eq(preloaded_rooms()->begins, 2);
	ck_assert_uint_eq(preloaded_rooms()->ends, 1);
}
END_TEST

START_TEST(where_no_capture_is_none_ends)
{
	call_with_everything(linked_cuStreamBeginCapture_v2);
	driver_log()->result = CUDA_ERROR_ILLEGAL_STATE;
	call_with_everything(linked_cuStreamEndCapture);
	ck_assert_uint_eq(preloaded_rooms()->ends, 0);
}
END_TEST

START_TEST(a_capture_that_was_invalidated_has_ended)
{
	call_with_everything(linked_cuStreamBeginCapture_v2);
	driver_log()->result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	call_with_everything(linked_cuStreamEndCapture);
	ck_assert_uint_eq(preloaded_rooms()->ends, 1);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, every_argument_survives_the_first_call);
	tcase_add_test(tcase, every_argument_survives_a_barrier_with_something_deferred);
	tcase_add_test(tcase, an_error_of_the_loaders_survives_first_calls);
	tcase_add_test(tcase, a_barrier_with_nothing_deferred_tells_nobody);
	tcase_add_test(tcase, a_debugger_sees_through_the_doors);
	tcase_add_test(tcase, an_order_names_its_stream);
	tcase_add_test(tcase, a_host_function_comes_behind_its_stream_and_counts_as_the_hosts);
	tcase_add_test(tcase, a_launch_on_several_devices_comes_behind_everything);
	tcase_add_test(tcase, a_lifetime_is_always_told_and_names_its_handle);
	tcase_add_test(tcase, each_lifetime_names_its_handle_before_and_after);
	tcase_add_test(tcase, limits_and_peer_access_change_what_every_trace_runs_with);
	tcase_add_test(tcase, an_address_that_is_unmapped_or_trimmed_may_come_back_as_another_kind);
	tcase_add_test(tcase, the_flags_of_a_primary_context_end_no_context);
	tcase_add_test(tcase, a_wait_that_is_told_of_an_error_is_not_made);
	tcase_add_test(tcase, what_graphics_shared_may_have_been_arrays);
	tcase_add_test(tcase, a_sync_says_what_it_observes);
	tcase_add_test(tcase, a_checked_door_shows_failures_and_returns_them);
	tcase_add_test(tcase, what_finds_no_memory_is_called_again);
	tcase_add_test(tcase, a_launch_is_an_op_with_its_arguments);
	tcase_add_test(tcase, an_eager_launch_reaches_the_entry_point_it_named);
	tcase_add_test(tcase, a_launch_by_configuration_keeps_it);
	tcase_add_test(tcase, copies_and_memsets_are_ops);
	tcase_add_test(tcase, doors_say_nothing_while_reprise_is_inside);
	tcase_add_test(tcase, a_capture_is_announced_and_its_end_too);
	tcase_add_test(tcase, a_capture_that_fails_to_begin_has_ended);
	tcase_add_test(tcase, a_capture_goes_on_if_the_wrong_thread_ends_it);
	tcase_add_test(tcase, a_capture_that_is_begun_twice_goes_on_once);
	tcase_add_test(tcase, where_no_capture_is_none_ends);
	tcase_add_test(tcase, a_capture_that_was_invalidated_has_ended);
}

int main(void)
{
	return run_tests("doors, linked", add_tests);
}
