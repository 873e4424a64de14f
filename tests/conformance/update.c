/* Whole-graph update: what may change, and what each refusal is called. */
#include "conformance.h"

static CUgraph later;

/* Instantiates what was captured first, and captures again: update_is compares. */
static void begin_again(void)
{
	capture_end();
	OK(cuGraphInstantiate(&exec, graph, 0));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static void update_is(CUgraphExecUpdateResult wanted)
{
	CUgraphExecUpdateResultInfo info = {.result = (CUgraphExecUpdateResult)99};
	CUresult result;

	OK(cuStreamEndCapture(stream, &later));
	result = cuGraphExecUpdate(exec, later, &info);
	EQUAL(info.result, wanted);
	EXPECT(result, wanted == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
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
	CUgraphExecUpdateResultInfo info;
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
	CHECK(a_launch_under_way_keeps_its_values, "Programming Guide, CUDA Graphs, Updating Instantiated Graphs"),
	CHECKS_END,
};
