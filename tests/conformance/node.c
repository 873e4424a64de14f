/* Parameters of nodes, and which handle of a kernel goes where. */
#include "conformance.h"

static CUkernel library_kernel(CUlibrary *loaded)
{
	CUkernel kernel;

	OK(cuLibraryLoadFromFile(loaded, module_path, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, *loaded, "append"));
	return kernel;
}

static CUDA_KERNEL_NODE_PARAMS one_thread(CUfunction func, CUkernel kern, void **params)
{
	return (CUDA_KERNEL_NODE_PARAMS){.func = func,
	                                 .kern = kern,
	                                 .gridDimX = 1,
	                                 .gridDimY = 1,
	                                 .gridDimZ = 1,
	                                 .blockDimX = 1,
	                                 .blockDimY = 1,
	                                 .blockDimZ = 1,
	                                 .kernelParams = params};
}

static void parameters_of_a_captured_kernel(void)
{
	CUdeviceptr list = words();
	CUDA_KERNEL_NODE_PARAMS params = {0};
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, 7, stream));
	capture_end();
	nodes(graph, &node, 1);
	OK(cuGraphKernelNodeGetParams(node, &params));
	TRUE(params.func == function("append"));
	TRUE(params.kern == NULL);
	EQUAL(params.gridDimX, 1);
	EQUAL(params.blockDimX, 1);
	EQUAL(*(CUdeviceptr *)params.kernelParams[0], list);
	EQUAL(*(unsigned *)params.kernelParams[1], 7);
}

static void a_captured_library_kernel_is_a_kern_and_a_func(void)
{
	CUDA_KERNEL_NODE_PARAMS params = {0};
	CUdeviceptr list = words();
	CUlibrary loaded;
	CUkernel kernel = library_kernel(&loaded);
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append_by((CUfunction)kernel, list, 7, stream));
	capture_end();
	nodes(graph, &node, 1);
	OK(cuGraphKernelNodeGetParams(node, &params));
	TRUE(params.kern == kernel);
	TRUE(params.func != NULL);
	OK(cuLibraryUnload(loaded));
}

static void a_kernel_is_not_taken_as_a_func(void)
{
	unsigned value = 1;
	CUdeviceptr list = words();
	void *values[] = {&list, &value};
	CUDA_KERNEL_NODE_PARAMS params;
	CUlibrary loaded;
	CUgraphNode node;

	params = one_thread((CUfunction)library_kernel(&loaded), NULL, values);
	OK(cuGraphCreate(&graph, 0));
	EXPECT(cuGraphAddKernelNode(&node, graph, NULL, 0, &params), CUDA_ERROR_INVALID_HANDLE);
	OK(cuLibraryUnload(loaded));
}

static void a_kernel_is_taken_as_a_kern(void)
{
	unsigned value = 1;
	CUdeviceptr list = words();
	void *values[] = {&list, &value};
	CUDA_KERNEL_NODE_PARAMS params;
	CUlibrary loaded;
	CUgraphNode node;

	params = one_thread(NULL, library_kernel(&loaded), values);
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	run_graph();
	is_list(list, 1);
	OK(cuLibraryUnload(loaded));
}

static void nodes_added_run_in_the_order_of_their_edges(void)
{
	CUdeviceptr list = words();
	CUgraphNode first, second;
	unsigned value = 1;
	void *values[] = {&list, &value};
	CUDA_KERNEL_NODE_PARAMS params = one_thread(function("append"), NULL, values);

	OK(cuGraphCreate(&graph, 0));
	value = 2;
	OK(cuGraphAddKernelNode(&second, graph, NULL, 0, &params));
	value = 1;
	OK(cuGraphAddKernelNode(&first, graph, NULL, 0, &params));
	OK(cuGraphAddDependencies(graph, &first, &second, NULL, 1));
	run_graph();
	is_list(list, 2);
}

static void a_kernel_node_has_a_shape(void)
{
	CUDA_KERNEL_NODE_PARAMS params = one_thread(function("nothing"), NULL, NULL);
	CUgraphNode node;

	params.gridDimX = 0;
	OK(cuGraphCreate(&graph, 0));
	EXPECT(cuGraphAddKernelNode(&node, graph, NULL, 0, &params), CUDA_ERROR_INVALID_VALUE);
}

static void parameters_of_a_memset(void)
{
	CUDA_MEMSET_NODE_PARAMS params = {0};
	CUdeviceptr device = words();
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD32Async(device, 5, 8, stream));
	capture_end();
	nodes(graph, &node, 1);
	OK(cuGraphMemsetNodeGetParams(node, &params));
	EQUAL(params.dst, device);
	EQUAL(params.value, 5);
	EQUAL(params.elementSize, 4);
	EQUAL(params.width, 8);
	EQUAL(params.height, 1);
}

static void parameters_of_a_copy(void)
{
	CUdeviceptr first = words(), second = words();
	CUDA_MEMCPY3D params = {0};
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyDtoDAsync(first, second, 16, stream));
	capture_end();
	nodes(graph, &node, 1);
	OK(cuGraphMemcpyNodeGetParams(node, &params));
	EQUAL(params.dstDevice, first);
	EQUAL(params.srcDevice, second);
	EQUAL(params.WidthInBytes, 16);
	EQUAL(params.Height, 1);
}

static void parameters_of_another_type_are_invalid(void)
{
	CUDA_KERNEL_NODE_PARAMS params;
	CUdeviceptr device = words();
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD32Async(device, 5, 8, stream));
	capture_end();
	nodes(graph, &node, 1);
	EXPECT(cuGraphKernelNodeGetParams(node, &params), CUDA_ERROR_INVALID_VALUE);
}

static void a_node_has_neighbours(void)
{
	CUgraphNode all[2], near;
	size_t count = 1;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	OK(launch("nothing", stream, NULL));
	capture_end();
	nodes(graph, all, 2);
	OK(cuGraphNodeGetDependencies(all[1], &near, NULL, &count));
	EQUAL(count, 1);
	TRUE(near == all[0]);
	OK(cuGraphNodeGetDependentNodes(all[0], &near, NULL, &count));
	TRUE(near == all[1]);
}

#define GRAPH "Graph Management: "

const struct check node_checks[] = {
	CHECK(parameters_of_a_captured_kernel, GRAPH "cuGraphKernelNodeGetParams"),
	CHECK(a_captured_library_kernel_is_a_kern_and_a_func,
          MEASURED(GRAPH "CUDA_KERNEL_NODE_PARAMS", "kern is only referenced if func is NULL")),
	CHECK(a_kernel_is_not_taken_as_a_func,
          MEASURED(GRAPH "CUDA_KERNEL_NODE_PARAMS", "says nothing of a CUkernel given as func")),
	CHECK(a_kernel_is_taken_as_a_kern, GRAPH "CUDA_KERNEL_NODE_PARAMS"),
	CHECK(nodes_added_run_in_the_order_of_their_edges, GRAPH "cuGraphAddDependencies"),
	CHECK(a_kernel_node_has_a_shape, GRAPH "cuGraphAddKernelNode"),
	CHECK(parameters_of_a_memset, GRAPH "cuGraphMemsetNodeGetParams"),
	CHECK(parameters_of_a_copy, GRAPH "cuGraphMemcpyNodeGetParams"),
	CHECK(parameters_of_another_type_are_invalid, GRAPH "cuGraphKernelNodeGetParams"),
	CHECK(a_node_has_neighbours, GRAPH "cuGraphNodeGetDependencies"),
	CHECKS_END,
};
