/* Whole-graph update: what may change, and what each refusal is called. */
#include "conformance.h"

static CUgraph later;
static CUgraphExecUpdateResultInfo info;

/* Instantiates what was captured first, and captures again: update_is compares. */
static void begin_again(void)
{
	capture_end();
	OK(cuGraphInstantiate(&exec, graph, 0));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static void update_is(CUgraphExecUpdateResult wanted)
{
	CUresult result;

	OK(cuStreamEndCapture(stream, &later));
	info.result = (CUgraphExecUpdateResult)99;
	result = cuGraphExecUpdate(exec, later, &info);
	EQUAL(info.result, wanted);
	EXPECT(result, wanted == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
	                                                      : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	OK(cuGraphDestroy(later));
	if (wanted != CU_GRAPH_EXEC_UPDATE_SUCCESS)
		run_graph();
}

static void values_may_change(void)
{
	CUdeviceptr list = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, 9, stream));
	begin_again();
	OK(append(list, 1, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	is_list(list, 1);
}

static void functions_may_change(void)
{
	CUdeviceptr list = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, 1, stream));
	begin_again();
	OK(append_by(function("append_double"), list, 1, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	EQUAL(word(list, 1), 2);
}

static void dimensions_may_change(void)
{
	CUdeviceptr result = words();
	void *params[] = {&result};

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuLaunchKernel(function("shape"), 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	begin_again();
	OK(cuLaunchKernel(function("shape"), 5, 1, 1, 64, 1, 1, 0, stream, params, NULL));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	EQUAL(word(result, 0), 5);
	EQUAL(word(result, 3), 64);
}

static void addresses_and_sizes_of_copies_may_change(void)
{
	CUdeviceptr first = words(), second = words(), third = words();

	OK(cuMemsetD32(first, 3, WORDS));
	OK(cuCtxSynchronize());
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyDtoDAsync(second, first, 16, stream));
	begin_again();
	OK(cuMemcpyDtoDAsync(third, first, 32, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	EQUAL(word(second, 0), 0);
	EQUAL(word(third, 7), 3);
}

static void values_and_sizes_of_memsets_may_change(void)
{
	CUdeviceptr device = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD32Async(device, 1, 4, stream));
	begin_again();
	OK(cuMemsetD32Async(device, 2, 8, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	EQUAL(word(device, 7), 2);
}

static void one_node_more_is_another_topology(void)
{
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	begin_again();
	OK(launch("nothing", stream, NULL));
	OK(launch("nothing", stream, NULL));
	update_is(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

static void another_type_is_refused(void)
{
	CUdeviceptr device = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	begin_again();
	OK(cuMemsetD32Async(device, 1, 4, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
}

static void another_direction_of_a_copy_is_refused(void)
{
	CUdeviceptr first = words(), second = words();
	volatile unsigned *host = pinned();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyDtoDAsync(first, second, 16, stream));
	begin_again();
	OK(cuMemcpyHtoDAsync(first, (const void *)(uintptr_t)host, 16, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
}

static void another_shape_of_a_2d_memset_is_refused(void)
{
	CUdeviceptr device = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD2D32Async(device, 16, 1, 2, 3, stream));
	begin_again();
	OK(cuMemsetD2D32Async(device, 16, 1, 3, 2, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
}

static void a_launch_does_not_become_cooperative(void)
{
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	begin_again();
	OK(cuLaunchCooperativeKernel(function("nothing"), 1, 1, 1, 1, 1, 1, 0, stream, NULL));
	update_is(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
}

static void a_launch_under_way_keeps_its_values(void)
{
	CUdeviceptr list = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, 1, stream));
	begin_again();
	OK(append(list, 2, stream));
	OK(cuStreamEndCapture(stream, &later));
	hold(other);
	OK(cuGraphLaunch(exec, other));
	OK(cuGraphExecUpdate(exec, later, &info));
	OK(cuGraphLaunch(exec, other));
	release();
	finish(other);
	OK(cuGraphDestroy(later));
	is_list(list, 2);
}

/* ---- by hand: two graphs of empty nodes, and what stands at fault ---- */

static CUgraphNode made[8];

static CUresult update_by_hand(void)
{
	CUresult result;

	OK(cuGraphInstantiate(&exec, graph, 0));
	info =
		(CUgraphExecUpdateResultInfo){.result = (CUgraphExecUpdateResult)99, .errorNode = made[7]};
	result = cuGraphExecUpdate(exec, later, &info);
	return result;
}

static void empty(CUgraph in, unsigned position, const CUgraphNode *before, size_t count)
{
	OK(cuGraphAddEmptyNode(&made[position], in, before, count));
}

static void two_graphs(void)
{
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphCreate(&later, 0));
}

static void other_counts_are_no_nodes_fault(void)
{
	two_graphs();
	empty(graph, 0, NULL, 0);
	empty(later, 1, NULL, 0);
	empty(later, 2, NULL, 0);
	EXPECT(update_by_hand(), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	TRUE(info.errorNode == NULL);
	OK(cuGraphDestroy(later));
}

static void more_exit_nodes_are_an_exit_nodes_fault(void)
{
	two_graphs();
	empty(graph, 0, NULL, 0);
	empty(graph, 1, &made[0], 1);
	empty(graph, 2, &made[1], 1);
	empty(later, 3, NULL, 0);
	empty(later, 4, &made[3], 1);
	empty(later, 5, &made[3], 1);
	EXPECT(update_by_hand(), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	TRUE(info.errorNode == made[4] || info.errorNode == made[5]);
	OK(cuGraphDestroy(later));
}

static void fewer_exit_nodes_are_no_nodes_fault(void)
{
	two_graphs();
	empty(graph, 3, NULL, 0);
	empty(graph, 4, &made[3], 1);
	empty(graph, 5, &made[3], 1);
	empty(later, 0, NULL, 0);
	empty(later, 1, &made[0], 1);
	empty(later, 2, &made[1], 1);
	EXPECT(update_by_hand(), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	TRUE(info.errorNode == NULL);
	OK(cuGraphDestroy(later));
}

static void CUDA_CB do_nothing(void *unused)
{
	(void)unused;
}

/* A memset and a host function, made in either order, and an empty node behind both, with its edges
 * in either order. */
static void join_of(CUgraph in, unsigned first, bool host_first, bool edges_reversed, bool joined)
{
	CUDA_MEMSET_NODE_PARAMS set = {.dst = words(), .elementSize = 4, .width = 4, .height = 1};
	CUDA_HOST_NODE_PARAMS host = {do_nothing, NULL};
	CUgraphNode before[2];

	if (host_first)
		OK(cuGraphAddHostNode(&made[first + 1], in, NULL, 0, &host));
	OK(cuGraphAddMemsetNode(&made[first], in, NULL, 0, &set, context));
	if (!host_first)
		OK(cuGraphAddHostNode(&made[first + 1], in, NULL, 0, &host));
	before[0] = made[first + edges_reversed];
	before[1] = made[first + !edges_reversed];
	if (joined)
		empty(in, first + 2, before, 2);
}

static void nodes_are_paired_along_the_edges(void)
{
	two_graphs();
	join_of(graph, 0, false, false, true);
	join_of(later, 3, true, false, true);
	OK(update_by_hand());
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	OK(cuGraphDestroy(later));
}

static void edges_in_another_order_are_other_pairs(void)
{
	two_graphs();
	join_of(graph, 0, false, false, true);
	join_of(later, 3, false, true, true);
	EXPECT(update_by_hand(), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
	TRUE(info.errorNode == made[3] || info.errorNode == made[4]);
	OK(cuGraphDestroy(later));
}

static void exit_nodes_are_paired_in_the_order_they_were_made(void)
{
	two_graphs();
	join_of(graph, 0, false, false, false);
	join_of(later, 3, true, false, false);
	EXPECT(update_by_hand(), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
	OK(cuGraphDestroy(later));
}

static void a_child_graphs_node_is_at_fault(void)
{
	CUDA_HOST_NODE_PARAMS host = {do_nothing, NULL};
	CUgraphNode node, inside;
	CUgraph child, clone;

	two_graphs();
	OK(cuGraphCreate(&child, 0));
	OK(cuGraphAddEmptyNode(&node, child, NULL, 0));
	OK(cuGraphAddChildGraphNode(&made[0], graph, NULL, 0, child));
	OK(cuGraphDestroy(child));
	OK(cuGraphCreate(&child, 0));
	OK(cuGraphAddHostNode(&node, child, NULL, 0, &host));
	OK(cuGraphAddChildGraphNode(&made[1], later, NULL, 0, child));
	OK(cuGraphDestroy(child));
	OK(cuGraphChildGraphNodeGetGraph(made[1], &clone));
	nodes(clone, &inside, 1);
	EXPECT(update_by_hand(), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
	TRUE(info.errorNode == inside);
	OK(cuGraphDestroy(later));
}

static void what_is_no_graph_does_not_update(void)
{
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphInstantiate(&exec, graph, 0));
	info.result = (CUgraphExecUpdateResult)99;
	EXPECT(cuGraphExecUpdate(exec, NULL, &info), CUDA_ERROR_INVALID_VALUE);
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
	OK(cuGraphExecUpdate(exec, graph, &info));
}

static void the_memory_of_a_memset_may_be_of_another_kind(void)
{
	CUdeviceptr device = words();
	volatile unsigned *host = pinned();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD32Async(device, 1, 4, stream));
	begin_again();
	OK(cuMemsetD32Async((CUdeviceptr)(uintptr_t)host, 2, 4, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	EQUAL(host[3], 2);
}

static void pinned_and_pageable_memory_take_turns(void)
{
	static unsigned own[4] = {5, 6, 7, 8};
	CUdeviceptr device = words();
	volatile unsigned *host = pinned();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyHtoDAsync(device, (const void *)(uintptr_t)host, 16, stream));
	begin_again();
	OK(cuMemcpyHtoDAsync(device, own, 16, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	EQUAL(word(device, 3), 8);
}

static void managed_memory_is_of_another_kind(void)
{
	CUdeviceptr first = words(), second = words(), managed;

	OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyDtoDAsync(first, second, 16, stream));
	begin_again();
	OK(cuMemcpyAsync(managed, second, 16, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
	OK(cuMemFree(managed));
}

static void a_copy_of_two_dimensions_does_not_move(void)
{
	CUDA_MEMCPY2D shape = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .srcDevice = words(),
	                       .srcPitch = 16,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstDevice = words(),
	                       .dstPitch = 16,
	                       .WidthInBytes = 8,
	                       .Height = 2};

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpy2DAsync(&shape, stream));
	begin_again();
	shape.srcDevice += 64;
	OK(cuMemcpy2DAsync(&shape, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
}

static void a_memset_of_two_dimensions_moves(void)
{
	CUdeviceptr first = words(), second = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD2D32Async(first, 16, 1, 2, 3, stream));
	begin_again();
	OK(cuMemsetD2D32Async(second, 16, 2, 2, 3, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	EQUAL(word(second, 9), 2);
}

static void host_functions_and_events_may_change(void)
{
	static unsigned unused;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuLaunchHostFunc(stream, do_nothing, NULL));
	OK(cuEventRecordWithFlags(event_new(0), stream, CU_EVENT_RECORD_EXTERNAL));
	OK(cuStreamWaitEvent(stream, event_new(0), CU_EVENT_WAIT_EXTERNAL));
	begin_again();
	OK(cuLaunchHostFunc(stream, do_nothing, &unused));
	OK(cuEventRecordWithFlags(event_new(0), stream, CU_EVENT_RECORD_EXTERNAL));
	OK(cuStreamWaitEvent(stream, event_new(0), CU_EVENT_WAIT_EXTERNAL));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
}

static void another_contexts_function_is_refused(void)
{
	CUcontext second;
	CUfunction theirs;
	CUstream their_stream;
	CUmodule loaded;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	capture_end();
	OK(cuCtxCreate(&second, NULL, 0, 0));
	OK(cuModuleLoad(&loaded, module_path));
	OK(cuModuleGetFunction(&theirs, loaded, "nothing"));
	OK(cuStreamCreate(&their_stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture(their_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuLaunchKernel(theirs, 1, 1, 1, 1, 1, 1, 0, their_stream, NULL, NULL));
	OK(cuStreamEndCapture(their_stream, &later));
	OK(cuCtxSetCurrent(context));
	EXPECT(update_by_hand(), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
	OK(cuGraphDestroy(later));
	OK(cuCtxDestroy(second));
}

static CUresult launch_with_priority(int priority)
{
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = priority};
	CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, &attribute, 1};

	return cuLaunchKernelEx(&config, function("nothing"), NULL, NULL);
}

static void priorities_may_change_unless_they_count(void)
{
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch_with_priority(-1));
	capture_end();
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch_with_priority(-2));
	OK(cuStreamEndCapture(stream, &later));
	OK(update_by_hand());
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
	EXPECT(cuGraphExecUpdate(exec, later, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
	OK(cuGraphDestroy(later));
}

static void writes_take_other_values_but_no_other_width(void)
{
	CUdeviceptr target = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuStreamWriteValue32(stream, target, 1, 0));
	begin_again();
	OK(cuStreamWriteValue32(stream, target + 4, 2, 0));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	EQUAL(word(target, 1), 2);
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuStreamWriteValue64(stream, target, 1, 0));
	update_is(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
}

/* Which result says so is not documented. */
static void device_updatable_nodes_are_not_updated(void)
{
	CUlaunchAttribute updatable = {.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
	                               .value.deviceUpdatableKernelNode.deviceUpdatable = 1};
	CUlaunchConfig config = {.gridDimX = 1,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = 1,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream,
	                         .attrs = &updatable,
	                         .numAttrs = 1};

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuLaunchKernelEx(&config, function("nothing"), NULL, NULL));
	TRUE(updatable.value.deviceUpdatableKernelNode.devNode != NULL);
	begin_again();
	updatable.value.deviceUpdatableKernelNode.devNode = NULL;
	OK(cuLaunchKernelEx(&config, function("nothing"), NULL, NULL));
	OK(cuStreamEndCapture(stream, &later));
	EXPECT(cuGraphExecUpdate(exec, later, &info), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphDestroy(later));
}

static void the_place_of_a_device_nodes_handle_is_empty(void)
{
	CUlaunchAttribute updatable = {.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
	                               .value.deviceUpdatableKernelNode.deviceUpdatable = 1};
	CUlaunchConfig config = {.gridDimX = 1,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = 1,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream,
	                         .attrs = &updatable,
	                         .numAttrs = 1};

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuLaunchKernelEx(&config, function("nothing"), NULL, NULL));
	EXPECT(cuLaunchKernelEx(&config, function("nothing"), NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	cuStreamEndCapture(stream, &graph);
}

static void managed_memory_is_no_other_kind_for_host_memory(void)
{
	CUdeviceptr first = words(), managed;
	volatile unsigned *host = pinned();

	host[0] = 5;
	OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyHtoDAsync(first, (const void *)(uintptr_t)host, 16, stream));
	begin_again();
	OK(cuMemcpyHtoDAsync(managed, (const void *)(uintptr_t)host, 16, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run_graph();
	EQUAL(word(managed, 0), 5);
	OK(cuMemFree(managed));
}

static void another_place_in_managed_memory_is_the_same_kind(void)
{
	CUdeviceptr first = words(), managed;

	OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyAsync(managed, first, 16, stream));
	begin_again();
	OK(cuMemcpyAsync(managed, first + 16, 16, stream));
	update_is(CU_GRAPH_EXEC_UPDATE_SUCCESS);
	OK(cuMemFree(managed));
}

#define UPDATE "Graph Management: cuGraphExecUpdate"
#define LIMITS "Programming Guide, CUDA Graphs, Graph Update Limitations"

const struct check update_checks[] = {
	CHECK(values_may_change, UPDATE),
	CHECK(functions_may_change, UPDATE),
	CHECK(dimensions_may_change, UPDATE),
	CHECK(addresses_and_sizes_of_copies_may_change, UPDATE),
	CHECK(values_and_sizes_of_memsets_may_change, UPDATE),
	CHECK(one_node_more_is_another_topology, UPDATE),
	CHECK(another_type_is_refused, UPDATE),
	CHECK(another_direction_of_a_copy_is_refused, LIMITS),
	CHECK(another_shape_of_a_2d_memset_is_refused, LIMITS),
	CHECK(a_launch_does_not_become_cooperative, UPDATE),
	CHECK(other_counts_are_no_nodes_fault, UPDATE),
	CHECK(more_exit_nodes_are_an_exit_nodes_fault, UPDATE),
	CHECK(fewer_exit_nodes_are_no_nodes_fault, MEASURED(UPDATE, "says nothing of fewer")),
	CHECK(nodes_are_paired_along_the_edges, UPDATE),
	CHECK(edges_in_another_order_are_other_pairs, UPDATE),
	CHECK(exit_nodes_are_paired_in_the_order_they_were_made,
          "Programming Guide, CUDA Graphs, Whole Graph Update"),
	CHECK(a_child_graphs_node_is_at_fault, MEASURED(UPDATE, "the error node is that of hGraph")),
	CHECK(what_is_no_graph_does_not_update,
          MEASURED(UPDATE, "sets the result to CU_GRAPH_EXEC_UPDATE_ERROR")),
	CHECK(the_memory_of_a_memset_may_be_of_another_kind,
          MEASURED(LIMITS, "the device and context of the memory cannot change")),
	CHECK(pinned_and_pageable_memory_take_turns,
          MEASURED(LIMITS, "the kind of host memory is not named")),
	CHECK(managed_memory_is_of_another_kind, LIMITS),
	CHECK(a_copy_of_two_dimensions_does_not_move, LIMITS),
	CHECK(a_memset_of_two_dimensions_moves, UPDATE),
	CHECK(host_functions_and_events_may_change, LIMITS),
	CHECK(another_contexts_function_is_refused, LIMITS),
	CHECK(priorities_may_change_unless_they_count, UPDATE),
	CHECK(writes_take_other_values_but_no_other_width,
          "Graph Management: cuGraphExecBatchMemOpNodeSetParams"),
	CHECK(device_updatable_nodes_are_not_updated, UPDATE),
	CHECK(the_place_of_a_device_nodes_handle_is_empty,
          MEASURED("Data types: CUlaunchAttributeValue", "devNode: returns a handle")),
	CHECK(a_launch_under_way_keeps_its_values,
          "Programming Guide, CUDA Graphs, Updating Instantiated Graphs"),
	CHECK(managed_memory_is_no_other_kind_for_host_memory,
          MEASURED(LIMITS, "the source/destination memory must be from the same contexts")),
	CHECK(another_place_in_managed_memory_is_the_same_kind, LIMITS),
	CHECKS_END,
};
