/* Graphs: explicit nodes, instantiation, launch, and what may change in an executable graph. */
#include "sim_test.h"

static CUdeviceptr list;
static CUgraph graph;
static CUgraphExec exec;
static CUgraphNode nodes[8];

/* A capture of appends of 1 ... count. */
static CUgraph capture(unsigned count)
{
	CUgraph made;
	unsigned i;

	CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	for (i = 1; i <= count; i++)
		CU(append(list, i, stream));
	CU(cuStreamEndCapture(stream, &made));
	return made;
}

static void prepare(unsigned count)
{
	size_t room = 8;

	start();
	list = words();
	graph = capture(count);
	CU(cuGraphGetNodes(graph, nodes, &room));
	CU(cuGraphInstantiate(&exec, graph, 0));
}

static void launch_and_wait(void)
{
	CU(cuGraphLaunch(exec, stream));
	CU(cuStreamSynchronize(stream));
}

/* The node's parameters, with another value to append. */
static CUDA_KERNEL_NODE_PARAMS with_value(CUgraphNode node, unsigned *value, void **params)
{
	CUDA_KERNEL_NODE_PARAMS kernel;

	CU(cuGraphKernelNodeGetParams(node, &kernel));
	params[0] = kernel.kernelParams[0];
	params[1] = value;
	kernel.kernelParams = params;
	return kernel;
}

START_TEST(one_node_is_set_and_launches_under_way_keep_what_they_had)
{
	unsigned value = 3;
	void *params[2];
	CUDA_KERNEL_NODE_PARAMS kernel;

	prepare(2);
	kernel = with_value(nodes[0], &value, params);
	CU(cuGraphLaunch(exec, stream));
	CU(cuGraphExecKernelNodeSetParams(exec, nodes[0], &kernel));
	value = 4;
	kernel = with_value(nodes[1], &value, params);
	CU(cuGraphExecKernelNodeSetParams(exec, nodes[1], &kernel));
	launch_and_wait();
	assert_list(list, 4);
}
END_TEST

START_TEST(a_kernel_handle_is_refused_as_a_function_of_node_parameters)
{
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUlibrary library;
	CUkernel handle;
	unsigned value = 1;
	void *params[2];

	prepare(1);
	CU(cuLibraryLoadFromFile(&library, module_path, NULL, NULL, 0, NULL, NULL, 0));
	CU(cuLibraryGetKernel(&handle, library, "append"));
	kernel = with_value(nodes[0], &value, params);
	kernel.func = (CUfunction)handle;
	ck_assert_int_eq(cuGraphExecKernelNodeSetParams(exec, nodes[0], &kernel),
	                 CUDA_ERROR_INVALID_HANDLE);
	kernel.func = NULL;
	kernel.kern = handle;
	CU(cuGraphExecKernelNodeSetParams(exec, nodes[0], &kernel));
	launch_and_wait();
	assert_list(list, 1);
}
END_TEST

START_TEST(an_update_takes_the_parameters_of_another_capture)
{
	CUgraphExecUpdateResultInfo info;
	CUdeviceptr first;

	prepare(3);
	first = list;
	list = words();
	CU(cuGraphExecUpdate(exec, capture(3), &info));
	ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
	launch_and_wait();
	assert_list(list, 3);
	ck_assert_uint_eq(word(first, 0), 0);
}
END_TEST

START_TEST(an_update_of_another_shape_is_refused_and_changes_nothing)
{
	CUgraphExecUpdateResultInfo info;
	CUgraph changed;

	prepare(2);
	ck_assert_int_eq(cuGraphExecUpdate(exec, capture(3), &info),
	                 CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	CU(append(list, 7, stream));
	CU(cuMemsetD32Async(list, 0, 1, stream));
	CU(cuStreamEndCapture(stream, &changed));
	ck_assert_int_eq(cuGraphExecUpdate(exec, changed, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
	launch_and_wait();
	assert_list(list, 2);
}
END_TEST

START_TEST(an_update_may_not_change_kinds_of_memory)
{
	CUgraphExecUpdateResultInfo info;
	CUdeviceptr target;
	CUgraph changed;
	void *pinned;

	prepare(1);
	target = words();
	CU(cuMemAllocHost(&pinned, 64));
	CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	CU(cuMemcpyAsync(target, list, 64, stream));
	CU(cuStreamEndCapture(stream, &graph));
	CU(cuGraphInstantiate(&exec, graph, 0));
	CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	CU(cuMemcpyAsync((CUdeviceptr)(uintptr_t)pinned, list, 64, stream));
	CU(cuStreamEndCapture(stream, &changed));
	ck_assert_int_eq(cuGraphExecUpdate(exec, changed, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
}
END_TEST

START_TEST(explicit_nodes_run_in_the_order_of_their_edges)
{
	CUDA_KERNEL_NODE_PARAMS kernel = {.gridDimX = 1,
	                                  .gridDimY = 1,
	                                  .gridDimZ = 1,
	                                  .blockDimX = 1,
	                                  .blockDimY = 1,
	                                  .blockDimZ = 1};
	CUgraphNode second, first;
	unsigned value = 2;
	void *params[] = {&list, &value};

	start();
	list = words();
	kernel.func = function("append");
	kernel.kernelParams = params;
	CU(cuGraphCreate(&graph, 0));
	CU(cuGraphAddKernelNode(&second, graph, NULL, 0, &kernel));
	value = 1;
	CU(cuGraphAddKernelNode(&first, graph, NULL, 0, &kernel));
	CU(cuGraphAddDependencies(graph, &first, &second, NULL, 1));
	CU(cuGraphInstantiate(&exec, graph, 0));
	launch_and_wait();
	assert_list(list, 2);
	CU(cuGraphAddDependencies(graph, &second, &first, NULL, 1));
	ck_assert_int_eq(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(an_event_node_records_at_each_launch)
{
	CUevent event;

	prepare(1);
	CU(cuEventCreate(&event, 0));
	CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	CU(append(list, 1, stream));
	CU(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
	CU(cuStreamEndCapture(stream, &graph));
	CU(cuGraphInstantiate(&exec, graph, 0));
	CU(cuGraphLaunch(exec, stream));
	CU(cuStreamWaitEvent(other, event, 0));
	CU(append(list, 2, other));
	CU(cuStreamSynchronize(other));
	assert_list(list, 2);
}
END_TEST

START_TEST(a_child_graph_runs_as_one_node)
{
	CUgraph parent;
	CUgraphNode child;

	prepare(3);
	CU(cuGraphCreate(&parent, 0));
	CU(cuGraphAddChildGraphNode(&child, parent, NULL, 0, graph));
	CU(cuGraphInstantiate(&exec, parent, 0));
	launch_and_wait();
	assert_list(list, 3);
}
END_TEST

START_TEST(a_graph_may_be_destroyed_once_it_is_instantiated)
{
	prepare(2);
	CU(cuGraphDestroy(graph));
	launch_and_wait();
	CU(cuGraphLaunch(exec, stream));
	CU(cuGraphExecDestroy(exec));
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_eq(word(list, 0), 4);
	ck_assert_int_eq(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(an_executable_graph_takes_device_memory_until_it_is_destroyed)
{
	size_t before, during, all;
	CUgraphExec second;

	setenv("SIM_MEMORY", "64K", 1);
	prepare(8);
	CU(cuMemGetInfo(&during, &all));
	CU(cuGraphExecDestroy(exec));
	CU(cuMemGetInfo(&before, &all));
	ck_assert_uint_eq(before - during, 8 * 3072);
	CU(cuGraphInstantiate(&exec, graph, 0));
	CU(cuGraphInstantiate(&second, graph, 0));
	CU(cuGraphExecDestroy(second));
	graph = capture(20);
	ck_assert_int_eq(cuGraphInstantiate(&second, graph, 0), CUDA_ERROR_OUT_OF_MEMORY);
	launch_and_wait();
	assert_list(list, 8);
	CU(cuGraphExecDestroy(exec));
	CU(cuGraphInstantiate(&exec, graph, 0));
}
END_TEST

RUN("graphs", one_node_is_set_and_launches_under_way_keep_what_they_had,
    a_kernel_handle_is_refused_as_a_function_of_node_parameters,
    an_update_takes_the_parameters_of_another_capture,
    an_update_of_another_shape_is_refused_and_changes_nothing,
    an_update_may_not_change_kinds_of_memory, explicit_nodes_run_in_the_order_of_their_edges,
    an_event_node_records_at_each_launch, a_child_graph_runs_as_one_node,
    a_graph_may_be_destroyed_once_it_is_instantiated,
    an_executable_graph_takes_device_memory_until_it_is_destroyed)
