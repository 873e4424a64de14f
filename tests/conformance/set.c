/* Single nodes of an executable graph: setting, enabling, disabling. */
#include "conformance.h"

static CUgraphNode node;

static void instantiate(void)
{
	capture_end();
	nodes(graph, &node, 1);
	OK(cuGraphInstantiate(&exec, graph, 0));
}

static void instantiate_append(CUdeviceptr list, unsigned value)
{
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, value, stream));
	instantiate();
}

static void a_kernel_node_takes_other_values(void)
{
	CUdeviceptr list = words();
	unsigned value = 1;
	void *values[] = {&list, &value};
	CUDA_KERNEL_NODE_PARAMS params;

	instantiate_append(list, 9);
	OK(cuGraphKernelNodeGetParams(node, &params));
	params.kernelParams = values;
	OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
	run_graph();
	is_list(list, 1);
}

static void setting_leaves_the_graph_alone(void)
{
	CUdeviceptr list = words();
	unsigned value = 1;
	void *values[] = {&list, &value};
	CUDA_KERNEL_NODE_PARAMS params;

	instantiate_append(list, 9);
	OK(cuGraphKernelNodeGetParams(node, &params));
	params.kernelParams = values;
	OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
	OK(cuGraphKernelNodeGetParams(node, &params));
	EQUAL(*(unsigned *)params.kernelParams[1], 9);
}

static void setting_the_graph_leaves_its_executable_alone(void)
{
	CUdeviceptr list = words();
	unsigned value = 9;
	void *values[] = {&list, &value};
	CUDA_KERNEL_NODE_PARAMS params;

	instantiate_append(list, 1);
	OK(cuGraphKernelNodeGetParams(node, &params));
	params.kernelParams = values;
	OK(cuGraphKernelNodeSetParams(node, &params));
	run_graph();
	is_list(list, 1);
}

static void a_memset_node_takes_another_value(void)
{
	CUDA_MEMSET_NODE_PARAMS params;
	CUdeviceptr device = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD32Async(device, 1, 4, stream));
	instantiate();
	OK(cuGraphMemsetNodeGetParams(node, &params));
	params.value = 6;
	OK(cuGraphExecMemsetNodeSetParams(exec, node, &params, context));
	run_graph();
	EQUAL(word(device, 3), 6);
}

static void a_copy_node_takes_other_addresses(void)
{
	CUdeviceptr first = words(), second = words(), third = words();
	CUDA_MEMCPY3D params;

	OK(cuMemsetD32(third, 8, 4));
	OK(cuCtxSynchronize());
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyDtoDAsync(first, second, 16, stream));
	instantiate();
	OK(cuGraphMemcpyNodeGetParams(node, &params));
	params.srcDevice = third;
	OK(cuGraphExecMemcpyNodeSetParams(exec, node, &params, context));
	run_graph();
	EQUAL(word(first, 3), 8);
}

static void a_copy_node_keeps_its_direction(void)
{
	CUdeviceptr first = words(), second = words();
	volatile unsigned *host = pinned();
	CUDA_MEMCPY3D params;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyDtoDAsync(first, second, 16, stream));
	instantiate();
	OK(cuGraphMemcpyNodeGetParams(node, &params));
	params.srcMemoryType = CU_MEMORYTYPE_HOST;
	params.srcHost = (const void *)(uintptr_t)host;
	EXPECT(cuGraphExecMemcpyNodeSetParams(exec, node, &params, context), CUDA_ERROR_INVALID_VALUE);
}

/* What a captured copy's node says is what was called, so that other addresses can be put in their
 * place. */
static void a_copy_node_from_the_host_takes_other_addresses(void)
{
	CUdeviceptr first = words(), second = words();
	volatile unsigned *host = pinned();
	CUDA_MEMCPY3D params;

	host[0] = 3;
	host[4] = 4;
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyHtoDAsync(first, (const void *)(uintptr_t)host, 16, stream));
	instantiate();
	OK(cuGraphMemcpyNodeGetParams(node, &params));
	EQUAL(params.srcMemoryType, CU_MEMORYTYPE_HOST);
	EQUAL((uintptr_t)params.srcHost, (uintptr_t)host);
	EQUAL(params.WidthInBytes, 16);
	params.srcHost = (const void *)(uintptr_t)(host + 4);
	OK(cuGraphExecMemcpyNodeSetParams(exec, node, &params, context));
	run_graph();
	EQUAL(word(first, 0), 4);
	OK(cuMemsetD32(second, 9, 4));
	OK(cuCtxSynchronize());
	params.dstDevice = second;
	OK(cuGraphExecMemcpyNodeSetParams(exec, node, &params, context));
	run_graph();
	EQUAL(word(second, 0), 4);
}

static void a_memset_node_says_what_was_called(void)
{
	CUDA_MEMSET_NODE_PARAMS params;
	CUdeviceptr device = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD8Async(device + 4, 0xa5, 24, stream));
	instantiate();
	OK(cuGraphMemsetNodeGetParams(node, &params));
	EQUAL(params.dst, device + 4);
	EQUAL(params.value, 0xa5);
	EQUAL(params.elementSize, 1);
	EQUAL(params.width, 24);
	EQUAL(params.height, 1);
}

static void CUDA_CB add_one(void *number)
{
	++*(unsigned *)number;
}

static void a_host_node_takes_other_data(void)
{
	static unsigned first, second;
	CUDA_HOST_NODE_PARAMS params = {add_one, &second};

	first = second = 0;
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuLaunchHostFunc(stream, add_one, &first));
	instantiate();
	OK(cuGraphExecHostNodeSetParams(exec, node, &params));
	run_graph();
	EQUAL(first, 0);
	EQUAL(second, 1);
}

static void a_kernel_without_parameters_has_none_to_tell(void)
{
	CUdeviceptr list = words();
	unsigned value = 1;
	void *values[] = {&list, &value};
	CUDA_KERNEL_NODE_PARAMS params;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	instantiate();
	OK(cuGraphKernelNodeGetParams(node, &params));
	params.func = function("append");
	EXPECT(cuGraphExecKernelNodeSetParams(exec, node, &params), CUDA_ERROR_INVALID_VALUE);
	params.kernelParams = values;
	OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
	run_graph();
	is_list(list, 1);
}

static void a_kernel_node_takes_what_could_be_launched(void)
{
	CUDA_KERNEL_NODE_PARAMS params;

	instantiate_append(words(), 1);
	OK(cuGraphKernelNodeGetParams(node, &params));
	params.gridDimX = 0;
	EXPECT(cuGraphExecKernelNodeSetParams(exec, node, &params), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphExecKernelNodeSetParams(exec, node, NULL), CUDA_ERROR_INVALID_VALUE);
	params.gridDimX = 1;
	params.func = NULL;
	EXPECT(cuGraphExecKernelNodeSetParams(exec, node, &params), CUDA_ERROR_INVALID_HANDLE);
}

static void a_memset_node_moves_to_other_memory(void)
{
	volatile unsigned *host = pinned();
	CUdeviceptr target = words();
	CUDA_MEMSET_NODE_PARAMS params;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD8Async(target, 1, 64, stream));
	instantiate();
	OK(cuGraphMemsetNodeGetParams(node, &params));
	EQUAL(params.height, 1);
	params.elementSize = 4;
	params.width = 8;
	OK(cuGraphExecMemsetNodeSetParams(exec, node, &params, context));
	params.height = 2;
	params.pitch = 64;
	EXPECT(cuGraphExecMemsetNodeSetParams(exec, node, &params, context), CUDA_ERROR_INVALID_VALUE);
	params.height = 1;
	params.dst = (CUdeviceptr)(uintptr_t)host;
	OK(cuGraphExecMemsetNodeSetParams(exec, node, &params, context));
	run_graph();
	EQUAL(host[7], 1);
	params.width = 0;
	EXPECT(cuGraphExecMemsetNodeSetParams(exec, node, &params, context), CUDA_ERROR_INVALID_VALUE);
}

static void a_copy_node_keeps_to_one_row_of_some_bytes(void)
{
	CUdeviceptr target = words(), source = words();
	CUDA_MEMCPY3D shape;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyDtoDAsync(target, source, 64, stream));
	instantiate();
	OK(cuGraphMemcpyNodeGetParams(node, &shape));
	EQUAL(shape.Height, 1);
	EQUAL(shape.Depth, 1);
	shape.WidthInBytes = 0;
	EXPECT(cuGraphExecMemcpyNodeSetParams(exec, node, &shape, context), CUDA_ERROR_INVALID_VALUE);
	shape.WidthInBytes = 16;
	shape.Height = 2;
	EXPECT(cuGraphExecMemcpyNodeSetParams(exec, node, &shape, context), CUDA_ERROR_INVALID_VALUE);
	shape.Height = 1;
	OK(cuGraphExecMemcpyNodeSetParams(exec, node, &shape, NULL));
	run_graph();
}

#define GRAPH "Graph Management: "

const struct check set_checks[] = {
	CHECK(a_kernel_node_takes_other_values, GRAPH "cuGraphExecKernelNodeSetParams"),
	CHECK(setting_leaves_the_graph_alone, GRAPH "cuGraphExecKernelNodeSetParams"),
	CHECK(setting_the_graph_leaves_its_executable_alone, GRAPH "cuGraphKernelNodeSetParams"),
	CHECK(a_memset_node_takes_another_value, GRAPH "cuGraphExecMemsetNodeSetParams"),
	CHECK(a_copy_node_takes_other_addresses, GRAPH "cuGraphExecMemcpyNodeSetParams"),
	CHECK(a_copy_node_from_the_host_takes_other_addresses,
          GRAPH "cuGraphMemcpyNodeGetParams, cuGraphExecMemcpyNodeSetParams"),
	CHECK(a_memset_node_says_what_was_called, GRAPH "cuGraphMemsetNodeGetParams"),
	CHECK(a_copy_node_keeps_its_direction, GRAPH "cuGraphExecMemcpyNodeSetParams"),
	CHECK(a_host_node_takes_other_data, GRAPH "cuGraphExecHostNodeSetParams"),
	CHECK(a_kernel_without_parameters_has_none_to_tell,
          MEASURED("Graph Management: cuGraphKernelNodeGetParams", "does not say so")),
	CHECK(a_kernel_node_takes_what_could_be_launched,
          MEASURED("Graph Management: cuGraphExecKernelNodeSetParams",
                   "names no error of a missing function")),
	CHECK(a_memset_node_moves_to_other_memory,
          MEASURED("Graph Management: cuGraphExecMemsetNodeSetParams",
                   "the destination memory must be allocated from the same context")),
	CHECK(a_copy_node_keeps_to_one_row_of_some_bytes,
          "Graph Management: cuGraphExecMemcpyNodeSetParams"),
	CHECKS_END,
};
