/*
 * Which calls return while a kernel waits for the host, and whether other threads can launch beside
 * one that does not. A layer that makes such calls on its own account, on whatever thread, must
 * know: if launches wait with it, the program can never make the one that the kernel waits for.
 */
#include "waits.h"

enum { GRAPHS = 40, LENGTH = 100, STREAMS = 80 };

static CUgraph graphs[GRAPHS];
static CUgraphExec execs[GRAPHS];
static CUdeviceptr list;
static CUmodule fresh;
static CUstream streams[STREAMS];

#define RETURNS(call) expect_return(hold, (call), #call)
#define WAITS(call) expect_wait(hold, (call), #call, false)
#define WAITS_WITH_LAUNCHES(call) expect_wait(hold, (call), #call, true)

/* ---- what is called ---- */

static CUgraph captured(CUstream on, unsigned length)
{
	CUgraph into = NULL;

	OK(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_RELAXED));
	for (unsigned i = 0; i < length; i++)
		OK(append(list, i, on));
	OK(cuStreamEndCapture(on, &into));
	return into;
}

static void capture_all(void)
{
	CUstream on = blocking_stream();

	for (unsigned i = 0; i < GRAPHS; i++)
		graphs[i] = captured(on, LENGTH);
}

static void instantiate_all(void)
{
	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphInstantiate(&execs[i], graphs[i], 0));
}

static void upload_all(void)
{
	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphUpload(execs[i], other));
}

static void launch_all(void)
{
	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphLaunch(execs[i], other));
}

static void launch_all_and_wait(void)
{
	launch_all();
	finish(other);
}

static void update_all(void)
{
	CUgraphExecUpdateResultInfo info;

	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphExecUpdate(execs[i], graphs[(i + 1) % GRAPHS], &info));
}

/* To kernels with 2 KB of parameters. */
static void update_to_larger_parameters(void)
{
	static unsigned char table[4 * 501];
	unsigned char small = 1;
	double wide = 1;
	CUgraphExecUpdateResultInfo info;
	CUgraph larger;

	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	for (unsigned i = 0; i < LENGTH; i++)
		OK(launch("mixed", stream, (void *[]){&small, &wide, table, &list}));
	OK(cuStreamEndCapture(stream, &larger));
	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphExecUpdate(execs[i], larger, &info));
	OK(cuGraphDestroy(larger));
}

static void destroy_execs(void)
{
	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphExecDestroy(execs[i]));
}

static void destroy_graphs(void)
{
	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphDestroy(graphs[i]));
}

static void make_streams(void)
{
	for (unsigned i = 0; i < 24; i++) {
		CUstream made;
		int least, most;

		OK(cuCtxGetStreamPriorityRange(&least, &most));
		OK(cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, i % 2 ? most : least));
		OK(append(list, 1, made));
		OK(cuStreamDestroy(made));
	}
}

static void make_streams_to_keep(void)
{
	for (unsigned i = 0; i < STREAMS; i++)
		OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
}

static void make_events(void)
{
	for (unsigned i = 0; i < 100; i++) {
		CUevent event;

		OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
		OK(cuEventRecord(event, other));
		OK(cuEventSynchronize(event));
		OK(cuEventDestroy(event));
	}
}

/* Everything, in a context that nothing was launched in yet. */
static CUcontext second;
static CUmodule second_module;

static void live_in_another_context(void)
{
	CUfunction nothing;
	CUstream on;
	CUgraph captured_there;
	CUgraphExec runs_there[GRAPHS];

	OK(cuCtxPushCurrent(second));
	OK(cuModuleGetFunction(&nothing, second_module, "nothing"));
	OK(cuStreamCreate(&on, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_RELAXED));
	for (unsigned i = 0; i < LENGTH; i++)
		OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, on, NULL, NULL));
	OK(cuStreamEndCapture(on, &captured_there));
	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphInstantiate(&runs_there[i], captured_there, 0));
	OK(cuGraphUpload(runs_there[0], on));
	OK(cuGraphLaunch(runs_there[0], on));
	OK(cuStreamSynchronize(on));
	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphExecDestroy(runs_there[i]));
	OK(cuGraphDestroy(captured_there));
	OK(cuStreamDestroy(on));
	OK(cuCtxPopCurrent(NULL));
}

/* Uploads through more streams than there can be queues to the device; none of them has anything
 * else to do. */
static void upload_through_many_streams(void)
{
	for (unsigned i = 0; i < GRAPHS; i++)
		OK(cuGraphUpload(execs[i], streams[i]));
}

/* Were an upload stuck behind the kernel, in a queue that streams share, the launch would be, too.
 */
static void upload_through_many_streams_and_run(void)
{
	upload_through_many_streams();
	launch_all_and_wait();
}

static void load_a_module(void)
{
	OK(cuModuleLoad(&fresh, module_path));
}

static void launch_from_it(void)
{
	CUfunction first;

	OK(cuModuleGetFunction(&first, fresh, "append_double"));
	OK(append_by(first, list, 1, other));
	finish(other);
}

static void unload_it(void)
{
	OK(cuModuleUnload(fresh));
}

static void ask(void)
{
	CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	                                    CU_POINTER_ATTRIBUTE_IS_MANAGED};
	unsigned type, managed;
	void *answers[] = {&type, &managed};
	size_t offset, bytes, free_bytes, total;
	int registers, blocks;

	OK(cuPointerGetAttributes(2, attributes, answers, list));
	OK(cuFuncGetParamInfo(function("append"), 1, &offset, &bytes));
	OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function("append")));
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("append"), 32, 0));
	OK(cuMemGetInfo(&free_bytes, &total));
}

static void allocate_in_order(void)
{
	CUdeviceptr block;

	OK(cuMemAllocAsync(&block, 1 << 20, other));
	OK(cuMemFreeAsync(block, other));
	finish(other);
}

static CUdeviceptr large;

static void allocate(void)
{
	OK(cuMemAlloc(&large, 64 << 20));
}

static void free_it(void)
{
	OK(cuMemFree(large));
}

static void *host_block;

static void allocate_host(void)
{
	OK(cuMemAllocHost(&host_block, 8 << 20));
}

static void free_host(void)
{
	OK(cuMemFreeHost(host_block));
}

/* ---- the checks ---- */

static void capturing_does_not_wait_for_a_kernel(void)
{
	list = words();
	RETURNS(capture_all);
	destroy_graphs();
}

/* Each takes 48 KB of a heap that grows by 2 MB. */
static void graphs_that_need_more_room_wait_for_a_kernel(void)
{
	list = words();
	capture_all();
	WAITS_WITH_LAUNCHES(instantiate_all);
	destroy_execs();
	destroy_graphs();
}

/* There were as many before. */
static void graphs_live_beside_a_kernel_that_waits(void)
{
	list = words();
	capture_all();
	instantiate_all();
	destroy_execs();
	RETURNS(instantiate_all);
	RETURNS(upload_all);
	RETURNS(launch_all_and_wait);
	RETURNS(update_all);
	RETURNS(launch_all);
	RETURNS(update_to_larger_parameters);
	RETURNS(destroy_execs);
	RETURNS(destroy_graphs);
}

static void destroying_graphs_that_never_ran_does_not_wait(void)
{
	list = words();
	capture_all();
	instantiate_all();
	RETURNS(destroy_execs);
	destroy_graphs();
}

static void streams_are_made_beside_a_kernel_that_waits(void)
{
	list = words();
	RETURNS(make_streams);
}

static void streams_that_need_more_room_wait_for_a_kernel(void)
{
	WAITS_WITH_LAUNCHES(make_streams_to_keep);
}

static void another_context_lives_beside_a_kernel_that_waits(void)
{
	OK(cuCtxCreate(&second, NULL, 0, 0));
	OK(cuModuleLoad(&second_module, module_path));
	OK(cuCtxPopCurrent(NULL));
	RETURNS(live_in_another_context);
}

static void uploads_through_many_streams_do_not_wait(void)
{
	list = words();
	capture_all();
	instantiate_all();
	make_streams_to_keep();
	RETURNS(upload_through_many_streams);
}

static void graphs_uploaded_beside_a_kernel_run_beside_it(void)
{
	list = words();
	capture_all();
	instantiate_all();
	make_streams_to_keep();
	RETURNS(upload_through_many_streams_and_run);
}

static void events_are_made_beside_a_kernel_that_waits(void)
{
	RETURNS(make_events);
}

static void loading_a_module_waits_for_a_kernel(void)
{
	WAITS_WITH_LAUNCHES(load_a_module);
	unload_it();
}

static void a_first_launch_does_not_wait_for_a_kernel(void)
{
	list = words();
	load_a_module();
	RETURNS(launch_from_it);
	unload_it();
}

static void unloading_a_module_waits_for_a_kernel(void)
{
	load_a_module();
	WAITS(unload_it);
}

static void attributes_are_asked_beside_a_kernel_that_waits(void)
{
	list = words();
	RETURNS(ask);
}

static void ordered_memory_is_taken_beside_a_kernel_that_waits(void)
{
	RETURNS(allocate_in_order);
}

static void memory_is_taken_beside_a_kernel_that_waits(void)
{
	RETURNS(allocate);
	free_it();
}

static void freeing_memory_waits_for_a_kernel(void)
{
	allocate();
	WAITS_WITH_LAUNCHES(free_it);
}

static void host_memory_is_taken_beside_a_kernel_that_waits(void)
{
	RETURNS(allocate_host);
	free_host();
}

static void freeing_host_memory_waits_for_a_kernel(void)
{
	allocate_host();
	WAITS_WITH_LAUNCHES(free_host);
}

/* ---- calls that the building thread makes, and others that Reprise has to know about
 * (preload/entry_points.def, WAITS) ---- */

static CUarray array;
static CUmemoryPool pool;
static CUlibrary library;
static CUkernel kernel;
static unsigned char registered[1 << 16] __attribute__((aligned(4096)));

static void allocate_managed(void)
{
	OK(cuMemAllocManaged(&large, 1 << 20, CU_MEM_ATTACH_GLOBAL));
}

static void allocate_pitched(void)
{
	size_t pitch;

	OK(cuMemAllocPitch(&large, &pitch, 1000, 1000, 4));
}

static void allocate_host_with_flags(void)
{
	OK(cuMemHostAlloc(&host_block, 8 << 20, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
}

static void allocate_array(void)
{
	CUDA_ARRAY_DESCRIPTOR wanted = {.Width = 256,
	                                .Height = 256,
	                                .Format = CU_AD_FORMAT_UNSIGNED_INT32,
	                                .NumChannels = 1};

	OK(cuArrayCreate(&array, &wanted));
}

static void destroy_array(void)
{
	OK(cuArrayDestroy(array));
}

static void register_memory(void)
{
	OK(cuMemHostRegister(registered, sizeof(registered), CU_MEMHOSTREGISTER_DEVICEMAP));
}

static void unregister_memory(void)
{
	OK(cuMemHostUnregister(registered));
}

static void make_a_pool(void)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};

	OK(cuMemPoolCreate(&pool, &props));
}

static void trim_a_pool(void)
{
	OK(cuMemPoolTrimTo(pool, 0));
}

static void destroy_a_pool(void)
{
	OK(cuMemPoolDestroy(pool));
}

static void load_a_library(void)
{
	OK(cuLibraryLoadFromFile(&library, module_path, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "append_double"));
}

static void load_its_kernel(void)
{
	CUfunction loaded;

	OK(cuKernelGetFunction(&loaded, kernel));
}

static void launch_its_kernel(void)
{
	OK(append_by((CUfunction)kernel, list, 1, other));
	finish(other);
}

static void ask_its_attributes(void)
{
	int registers;

	OK(cuKernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
}

static void unload_the_library(void)
{
	OK(cuLibraryUnload(library));
}

static CUstream idle;

static void destroy_a_stream(void)
{
	OK(cuStreamDestroy(idle));
}

static void retain_the_primary_context(void)
{
	CUcontext primary;

	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	OK(cuDevicePrimaryCtxRelease(0));
}

static void make_a_context(void)
{
	OK(cuCtxCreate(&second, NULL, 0, 0));
	OK(cuCtxPopCurrent(NULL));
}

static void destroy_the_context(void)
{
	OK(cuCtxDestroy(second));
}

static void set_a_limit(void)
{
	size_t bytes;

	OK(cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
	OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4 * bytes));
}

static void copy_to_host(void)
{
	unsigned copied[WORDS];

	OK(cuMemcpyDtoH(copied, list, sizeof(copied)));
}

/* What the building thread calls, while another thread is in a call that waits. */

static void *free_in_thread(void *unused)
{
	(void)unused;
	cuCtxSetCurrent(context);
	cuMemFree(large);
	return NULL;
}

static CUevent marked;

static void ask_for_memory(void)
{
	size_t free_bytes, total;

	OK(cuMemGetInfo(&free_bytes, &total));
}

static void mark_the_context(void)
{
	OK(cuCtxRecordEvent(context, marked));
}

static void ask_for_the_mark(void)
{
	TRUE(cuEventQuery(marked) != CUDA_ERROR_INVALID_HANDLE);
}

static void destroy_one_exec(void)
{
	OK(cuGraphExecDestroy(execs[0]));
}

static void upload_one(void)
{
	OK(cuGraphUpload(execs[1], other));
}

/* Whether the call returns beside a kernel that waits, for whose end another thread waits in
 * cuMemFree. */
static void expect_beside_free(void (*call)(void), const char *what, bool return_wanted)
{
	bool returns;

	allocate();
	returns = returns_beside_thread(hold, free_in_thread, 50, call);
	if (returns != return_wanted)
		conformance_fail(__FILE__, __LINE__, "%s beside a thread in cuMemFree: expected %s, saw %s",
		                 what, return_wanted ? "a return" : "a wait",
		                 returns ? "a return" : "a wait");
}
#define RETURNS_BESIDE_FREE(call) expect_beside_free((call), #call, true)
#define WAITS_BESIDE_FREE(call) expect_beside_free((call), #call, false)

static void other_memory_is_taken_beside_a_kernel_that_waits(void)
{
	RETURNS(allocate_managed);
	free_it();
	RETURNS(allocate_pitched);
	free_it();
	RETURNS(allocate_host_with_flags);
	free_host();
}

static void an_array_is_made_beside_a_kernel_that_waits(void)
{
	RETURNS(allocate_array);
	destroy_array();
}

static void destroying_an_array_waits_for_a_kernel(void)
{
	allocate_array();
	WAITS_WITH_LAUNCHES(destroy_array);
}

static void memory_is_registered_beside_a_kernel_that_waits(void)
{
	RETURNS(register_memory);
	unregister_memory();
}

static void unregistering_memory_waits_for_a_kernel(void)
{
	register_memory();
	WAITS_WITH_LAUNCHES(unregister_memory);
}

static void pools_live_beside_a_kernel_that_waits(void)
{
	RETURNS(make_a_pool);
	RETURNS(trim_a_pool);
	RETURNS(destroy_a_pool);
}

static void loading_a_library_waits_for_a_kernel(void)
{
	WAITS_WITH_LAUNCHES(load_a_library);
	unload_the_library();
}

static void a_librarys_kernel_is_loaded_beside_a_kernel_that_waits(void)
{
	load_a_library();
	RETURNS(load_its_kernel);
	unload_the_library();
}

static void a_librarys_kernel_is_asked_about_beside_a_kernel_that_waits(void)
{
	load_a_library();
	RETURNS(ask_its_attributes);
	unload_the_library();
}

static void a_librarys_kernel_is_launched_first_beside_a_kernel_that_waits(void)
{
	list = words();
	load_a_library();
	RETURNS(launch_its_kernel);
	unload_the_library();
}

static void a_stream_is_destroyed_beside_a_kernel_that_waits(void)
{
	OK(cuStreamCreate(&idle, CU_STREAM_NON_BLOCKING));
	RETURNS(destroy_a_stream);
}

static void the_primary_context_is_retained_beside_a_kernel_that_waits(void)
{
	RETURNS(retain_the_primary_context);
}

static void a_context_is_made_beside_a_kernel_that_waits(void)
{
	RETURNS(make_a_context);
	destroy_the_context();
}

/* The kernel is another context's, of the same device. */
static void destroying_a_context_waits_for_a_kernel(void)
{
	make_a_context();
	WAITS(destroy_the_context);
}

static void setting_a_limit_waits_for_a_kernel(void)
{
	WAITS_WITH_LAUNCHES(set_a_limit);
}

static void memory_is_copied_beside_a_kernel_that_waits(void)
{
	list = words();
	RETURNS(copy_to_host);
}

static void marking_a_context_waits_behind_a_call_that_waits(void)
{
	marked = event_new(CU_EVENT_DISABLE_TIMING);
	WAITS_BESIDE_FREE(mark_the_context);
	RETURNS_BESIDE_FREE(ask_for_the_mark);
}

static void free_memory_is_asked_for_beside_a_call_that_waits(void)
{
	RETURNS_BESIDE_FREE(ask_for_memory);
}

static void capturing_waits_behind_a_call_that_waits(void)
{
	list = words();
	WAITS_BESIDE_FREE(capture_all);
	destroy_graphs();
}

static void destroying_a_graph_waits_behind_a_call_that_waits(void)
{
	list = words();
	capture_all();
	instantiate_all();
	WAITS_BESIDE_FREE(destroy_one_exec);
	destroy_graphs();
}

static void uploading_a_graph_waits_behind_a_call_that_waits(void)
{
	list = words();
	capture_all();
	instantiate_all();
	WAITS_BESIDE_FREE(upload_one);
	destroy_execs();
	destroy_graphs();
}

static void a_librarys_kernel_is_loaded_beside_a_call_that_waits(void)
{
	load_a_library();
	RETURNS_BESIDE_FREE(load_its_kernel);
	unload_the_library();
}

static void another_context_lives_beside_a_call_that_waits(void)
{
	OK(cuCtxCreate(&second, NULL, 0, 0));
	OK(cuModuleLoad(&second_module, module_path));
	OK(cuCtxPopCurrent(NULL));
	RETURNS_BESIDE_FREE(live_in_another_context);
}

/* ---- launches that are pending ---- */

enum { PENDING_LEAST = 1000, PENDING_MOST = 1100 };

static void launch_one(void)
{
	OK(launch("nothing", stream, NULL));
}

static void expect_about_a_thousand(unsigned seen)
{
	if (seen < PENDING_LEAST || seen > PENDING_MOST)
		conformance_fail(
			__FILE__, __LINE__,
			"expected a launch to wait behind %u to %u that are pending, saw %u that did not",
			PENDING_LEAST, PENDING_MOST, seen);
}

static void launches_wait_behind_a_thousand_pending(void)
{
	expect_about_a_thousand(pending_at_wait(hold, launch_one));
}

static CUevent recorded;

static void record_one(void)
{
	OK(cuEventRecord(recorded, stream));
}

static void records_of_an_event_do_not_wait(void)
{
	recorded = event_new(CU_EVENT_DISABLE_TIMING);
	EQUAL(pending_at_wait(hold, record_one), TRIED_MOST);
}

static bool is_recorded;

/* For what is behind the kernel that waits. */
static void wait_for_one(void)
{
	if (!is_recorded)
		record_one();
	is_recorded = true;
	OK(cuStreamWaitEvent(other, recorded, 0));
}

static void waits_for_an_event_do_not_wait(void)
{
	recorded = event_new(CU_EVENT_DISABLE_TIMING);
	EQUAL(pending_at_wait(hold, wait_for_one), TRIED_MOST);
	finish(other);
}

/* Five times as many as have room. */
static void launch_many(void)
{
	for (unsigned i = 0; i < 5 * PENDING_LEAST; i++)
		launch_one();
}

static void a_launch_that_finds_no_room_waits_alone(void)
{
	WAITS(launch_many);
}

/* A graph takes one place, whatever is in it. */
enum { NODES = 10 };

static void launch_a_graph(void)
{
	OK(cuGraphLaunch(execs[0], stream));
}

static void launch_a_graph_many_times(void)
{
	for (unsigned i = 0; i < 5 * PENDING_LEAST; i++)
		launch_a_graph();
}

static void make_one_graph(void)
{
	list = words();
	graphs[0] = captured(stream, NODES);
	OK(cuGraphInstantiate(&execs[0], graphs[0], 0));
}

static void destroy_one_graph(void)
{
	OK(cuGraphExecDestroy(execs[0]));
	OK(cuGraphDestroy(graphs[0]));
}

static void launches_of_graphs_wait_behind_a_thousand_pending(void)
{
	make_one_graph();
	expect_about_a_thousand(pending_at_wait(hold, launch_a_graph));
	destroy_one_graph();
}

static void a_graph_that_finds_no_room_waits_alone(void)
{
	make_one_graph();
	WAITS(launch_a_graph_many_times);
	destroy_one_graph();
}

#define SOURCE \
	MEASURED("Asynchronous Concurrent Execution, Implicit Synchronization", \
	         "some calls wait, which is not said in full")

const struct check beside_checks[] = {
	CHECK_ALONE(capturing_does_not_wait_for_a_kernel, SOURCE, 0),
	CHECK_ALONE(graphs_that_need_more_room_wait_for_a_kernel, SOURCE, 0),
	CHECK_ALONE(graphs_live_beside_a_kernel_that_waits, SOURCE, 0),
	CHECK(destroying_graphs_that_never_ran_does_not_wait, SOURCE),
	CHECK_ALONE(streams_are_made_beside_a_kernel_that_waits, SOURCE, 0),
	CHECK_ALONE(streams_that_need_more_room_wait_for_a_kernel, SOURCE, 0),
	CHECK_ALONE(another_context_lives_beside_a_kernel_that_waits, SOURCE, 0),
	CHECK_ALONE(uploads_through_many_streams_do_not_wait, SOURCE, 0),
	CHECK_ALONE(graphs_uploaded_beside_a_kernel_run_beside_it, SOURCE, 0),
	CHECK(events_are_made_beside_a_kernel_that_waits, SOURCE),
	CHECK(loading_a_module_waits_for_a_kernel, SOURCE),
	CHECK(a_first_launch_does_not_wait_for_a_kernel, SOURCE),
	CHECK(unloading_a_module_waits_for_a_kernel, SOURCE),
	CHECK(attributes_are_asked_beside_a_kernel_that_waits, SOURCE),
	CHECK(ordered_memory_is_taken_beside_a_kernel_that_waits, SOURCE),
	CHECK(memory_is_taken_beside_a_kernel_that_waits, SOURCE),
	CHECK(freeing_memory_waits_for_a_kernel, SOURCE),
	CHECK(host_memory_is_taken_beside_a_kernel_that_waits, SOURCE),
	CHECK(freeing_host_memory_waits_for_a_kernel, SOURCE),
	CHECK(other_memory_is_taken_beside_a_kernel_that_waits, SOURCE),
	CHECK(an_array_is_made_beside_a_kernel_that_waits, SOURCE),
	CHECK(destroying_an_array_waits_for_a_kernel, SOURCE),
	CHECK(memory_is_registered_beside_a_kernel_that_waits, SOURCE),
	CHECK(unregistering_memory_waits_for_a_kernel, SOURCE),
	CHECK(pools_live_beside_a_kernel_that_waits, SOURCE),
	CHECK_ALONE(loading_a_library_waits_for_a_kernel, SOURCE, 0),
	CHECK_ALONE(a_librarys_kernel_is_loaded_beside_a_kernel_that_waits, SOURCE, 0),
	CHECK_ALONE(a_librarys_kernel_is_asked_about_beside_a_kernel_that_waits, SOURCE, 0),
	CHECK_ALONE(a_librarys_kernel_is_launched_first_beside_a_kernel_that_waits, SOURCE, 0),
	CHECK(a_stream_is_destroyed_beside_a_kernel_that_waits, SOURCE),
	CHECK(the_primary_context_is_retained_beside_a_kernel_that_waits, SOURCE),
	CHECK_ALONE(a_context_is_made_beside_a_kernel_that_waits, SOURCE, 0),
	CHECK_ALONE(destroying_a_context_waits_for_a_kernel, SOURCE, 0),
	CHECK_ALONE(setting_a_limit_waits_for_a_kernel, SOURCE, 0),
	CHECK(memory_is_copied_beside_a_kernel_that_waits, SOURCE),
	CHECK_ALONE(marking_a_context_waits_behind_a_call_that_waits, SOURCE, 0),
	CHECK(free_memory_is_asked_for_beside_a_call_that_waits, SOURCE),
	CHECK_ALONE(capturing_waits_behind_a_call_that_waits, SOURCE, 0),
	CHECK_ALONE(destroying_a_graph_waits_behind_a_call_that_waits, SOURCE, 0),
	CHECK_ALONE(uploading_a_graph_waits_behind_a_call_that_waits, SOURCE, 0),
	CHECK_ALONE(another_context_lives_beside_a_call_that_waits, SOURCE, 0),
	CHECK_ALONE(launches_wait_behind_a_thousand_pending,
                MEASURED("Asynchronous Concurrent Execution",
                         "how many launches may be pending is not said"),
                0),
	CHECK_ALONE(launches_of_graphs_wait_behind_a_thousand_pending,
                MEASURED("Graph Management: cuGraphLaunch",
                         "how many launches may be pending is not said"),
                0),
	CHECK_ALONE(records_of_an_event_do_not_wait, SOURCE, 0),
	CHECK_ALONE(waits_for_an_event_do_not_wait, SOURCE, 0),
	CHECK_ALONE(a_launch_that_finds_no_room_waits_alone,
                MEASURED("Asynchronous Concurrent Execution",
                         "what others can do while a launch waits is not said"),
                0),
	CHECK_ALONE(a_graph_that_finds_no_room_waits_alone,
                MEASURED("Graph Management: cuGraphLaunch",
                         "what others can do while a launch waits is not said"),
                0),
	CHECK(a_librarys_kernel_is_loaded_beside_a_call_that_waits,
          MEASURED("Library Management: cuKernelGetFunction", "whether it waits is not said")),
	CHECKS_END,
};
