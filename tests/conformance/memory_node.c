/* Graph memory nodes: made by hand and captured, freed inside and outside, and what a graph with
 * them may not do. */
#include "conformance.h"

enum { BYTES = 1 << 20 };

static CUdeviceptr address;
static CUgraphNode allocation;

static CUDA_MEM_ALLOC_NODE_PARAMS wanted(void)
{
	return (CUDA_MEM_ALLOC_NODE_PARAMS){
		.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
		.bytesize = BYTES,
	};
}

/* Adds an allocation node to `graph`. */
static void allocate(void)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = wanted();

	if (!graph)
		OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddMemAllocNode(&allocation, graph, NULL, 0, &params));
	address = params.dptr;
	TRUE(address != 0);
}

static void instantiate(unsigned long long flags)
{
	OK(cuGraphInstantiate(&exec, graph, flags));
}

static void run(void)
{
	OK(cuGraphLaunch(exec, stream));
	finish(stream);
}

static void parameters_of_an_allocation(void)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = {.dptr = 0};
	CUgraphNode release;
	CUdeviceptr freed = 0;

	allocate();
	EQUAL(type_of(allocation), CU_GRAPH_NODE_TYPE_MEM_ALLOC);
	OK(cuGraphMemAllocNodeGetParams(allocation, &params));
	EQUAL(params.dptr, address);
	EQUAL(params.bytesize, BYTES);
	EQUAL(params.poolProps.allocType, CU_MEM_ALLOCATION_TYPE_PINNED);
	OK(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, address));
	EQUAL(type_of(release), CU_GRAPH_NODE_TYPE_MEM_FREE);
	OK(cuGraphMemFreeNodeGetParams(release, &freed));
	EQUAL(freed, address);
	EXPECT(cuGraphMemFreeNodeGetParams(allocation, &freed), CUDA_ERROR_INVALID_VALUE);
}

static void an_allocation_has_known_parameters(void)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = wanted();
	CUgraphNode node;

	OK(cuGraphCreate(&graph, 0));
	EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	params.bytesize = 0;
	EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), CUDA_ERROR_INVALID_VALUE);
	EQUAL(params.dptr, 0);
	params = wanted();
	params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
	EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), CUDA_ERROR_INVALID_VALUE);
	params = wanted();
	params.poolProps.location.type = CU_MEM_LOCATION_TYPE_INVALID;
	EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), CUDA_ERROR_INVALID_VALUE);
	params = wanted();
	params.poolProps.location.id = 99;
	EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), CUDA_ERROR_INVALID_VALUE);
	params = wanted();
	params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), CUDA_ERROR_NOT_SUPPORTED);
	params = wanted();
	params.bytesize = (size_t)1 << 46;
	EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), CUDA_ERROR_OUT_OF_MEMORY);
}

static void captured_allocations_are_used_and_freed(void)
{
	CUdeviceptr result = words(), inside = 0;
	CUgraphNode all[4];

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemAllocAsync(&inside, 256, stream));
	TRUE(inside != 0);
	OK(cuMemsetD32Async(inside, 3, 16, stream));
	OK(cuMemcpyDtoDAsync(result, inside, 64, stream));
	OK(cuMemFreeAsync(inside, stream));
	capture_end();
	EQUAL(nodes(graph, all, 4), 4);
	EQUAL(type_of(all[0]), CU_GRAPH_NODE_TYPE_MEM_ALLOC);
	EQUAL(type_of(all[3]), CU_GRAPH_NODE_TYPE_MEM_FREE);
	run_graph();
	EQUAL(word(result, 15), 3);
	run_graph();
}

static void a_capture_frees_only_memory_of_graphs(void)
{
	CUdeviceptr outside = 0, inside = 0;

	OK(cuMemAllocAsync(&outside, 256, stream));
	finish(stream);
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	EXPECT(cuMemFreeAsync(outside, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAllocAsync(&inside, 256, stream));
	OK(cuMemFreeAsync(inside, stream));
	EXPECT(cuMemFreeAsync(inside, stream), CUDA_ERROR_INVALID_VALUE);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 2);
	OK(cuMemFree(outside));
}

static void no_bytes_are_captured_as_nothing(void)
{
	CUdeviceptr inside = 9;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemAllocAsync(&inside, 0, stream));
	EQUAL(inside, 0);
	EXPECT(cuMemAllocAsync(NULL, 64, stream), CUDA_ERROR_INVALID_VALUE);
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 0);
}

static void an_allocation_is_used_after_its_graph(void)
{
	allocate();
	instantiate(0);
	run();
	OK(append(address, 1, stream));
	finish(stream);
	OK(cuMemFreeAsync(address, stream));
	finish(stream);
}

static void memory_is_there_once_it_was_launched(void)
{
	unsigned int type = 0;

	allocate();
	instantiate(0);
	EXPECT(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
	run();
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
	EQUAL(type, CU_MEMORYTYPE_DEVICE);
	OK(cuMemFree(address));
	EXPECT(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFreeAsync(address, stream), CUDA_ERROR_INVALID_VALUE);
}

static void memory_not_launched_has_no_attributes(void)
{
	CUdeviceptr base;
	unsigned int type;
	size_t bytes;

	allocate();
	EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemGetAddressRange(&base, &bytes, address), CUDA_ERROR_NOT_FOUND);
}

static void an_unfreed_graph_is_not_launched_again(void)
{
	allocate();
	instantiate(0);
	run();
	EXPECT(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeAsync(address, stream));
	run();
	OK(cuMemFree(address));
}

static void unfreed_memory_may_be_freed_by_the_next_launch(void)
{
	allocate();
	instantiate(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
	run();
	run();
	OK(cuMemFree(address));
	run();
	OK(cuMemFreeAsync(address, stream));
	finish(stream);
}

static void another_graph_frees(void)
{
	CUgraphNode release;
	CUgraphExec freeing;
	CUgraph second;

	allocate();
	OK(cuGraphCreate(&second, 0));
	OK(cuGraphAddMemFreeNode(&release, second, NULL, 0, address));
	EXPECT(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, address),
	       CUDA_ERROR_INVALID_VALUE);
	instantiate(0);
	OK(cuGraphInstantiate(&freeing, second, 0));
	EXPECT(cuGraphLaunch(freeing, stream), CUDA_ERROR_INVALID_VALUE);
	run();
	OK(cuGraphLaunch(freeing, stream));
	EXPECT(cuGraphLaunch(freeing, stream), CUDA_ERROR_INVALID_VALUE);
	run();
	OK(cuGraphLaunch(freeing, stream));
	finish(stream);
	OK(cuGraphExecDestroy(freeing));
	OK(cuGraphDestroy(second));
}

static void an_allocation_is_freed_once_in_its_graph(void)
{
	CUgraphNode release;
	CUgraph second;

	allocate();
	OK(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, address));
	EXPECT(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, address),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphCreate(&second, 0));
	EXPECT(cuGraphAddMemFreeNode(&release, second, NULL, 0, address), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(second));
}

static void only_allocations_of_graphs_are_freed_by_nodes(void)
{
	CUdeviceptr plain = words();
	CUgraphNode release;

	allocate();
	EXPECT(cuGraphAddMemFreeNode(&release, graph, NULL, 0, address + 8), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddMemFreeNode(&release, graph, NULL, 0, plain), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddMemFreeNode(&release, graph, NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

static void one_executable_graph_exists_at_a_time(void)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {.result_out = (CUgraphInstantiateResult)77};
	CUgraphExec second;

	allocate();
	instantiate(0);
	EXPECT(cuGraphInstantiate(&second, graph, 0), CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(cuGraphInstantiateWithParams(&second, graph, &params), CUDA_ERROR_NOT_SUPPORTED);
	EQUAL(params.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
	OK(cuGraphExecDestroy(exec));
	instantiate(0);
}

static void a_graph_with_memory_is_not_cloned(void)
{
	CUgraph clone;

	allocate();
	EXPECT(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
}

static void its_nodes_and_edges_stay(void)
{
	CUgraphNode empty;

	allocate();
	OK(cuGraphAddEmptyNode(&empty, graph, &allocation, 1));
	EXPECT(cuGraphRemoveDependencies(graph, &allocation, &empty, NULL, 1),
	       CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(cuGraphDestroyNode(empty), CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(cuGraphDestroyNode(allocation), CUDA_ERROR_NOT_SUPPORTED);
}

static void it_becomes_a_child_only_by_moving(void)
{
	CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
	CUgraph child, parent;
	CUgraphNode node;

	allocate();
	child = graph;
	OK(cuGraphCreate(&parent, 0));
	graph = parent;
	EXPECT(cuGraphAddChildGraphNode(&node, parent, NULL, 0, child), CUDA_ERROR_NOT_SUPPORTED);
	params.graph.graph = child;
	EXPECT(cuGraphAddNode(&node, parent, NULL, NULL, 0, &params), CUDA_ERROR_NOT_SUPPORTED);
	params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
	OK(cuGraphAddNode(&node, parent, NULL, NULL, 0, &params));
	TRUE(params.graph.graph == child);
}

static void a_moved_child_is_its_parents(void)
{
	CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
	CUgraph child, parent, another;
	CUgraphNode node;
	CUgraphExec own;

	allocate();
	child = graph;
	OK(cuGraphCreate(&parent, 0));
	graph = parent;
	params.graph.graph = child;
	params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
	OK(cuGraphAddNode(&node, parent, NULL, NULL, 0, &params));
	EXPECT(cuGraphDestroy(child), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphInstantiate(&own, child, 0), CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(cuGraphAddMemFreeNode(&node, child, NULL, 0, address), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphCreate(&another, 0));
	EXPECT(cuGraphAddNode(&node, another, NULL, NULL, 0, &params), CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(cuGraphAddChildGraphNode(&node, another, NULL, 0, child), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphDestroy(another));
	instantiate(0);
	run();
	OK(cuMemFree(address));
}

static void live_memory_outlives_its_graph(void)
{
	allocate();
	instantiate(0);
	run();
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
	exec = NULL;
	graph = NULL;
	OK(append(address, 1, stream));
	finish(stream);
	OK(cuMemFree(address));
}

static cuuint64_t figure(CUgraphMem_attribute attribute)
{
	cuuint64_t value = ~(cuuint64_t)0;

	OK(cuDeviceGetGraphMemAttribute(0, attribute, &value));
	return value;
}

static void memory_of_graphs_is_counted(void)
{
	cuuint64_t used, zero = 0, five = 5;

	allocate();
	instantiate(0);
	run();
	/* In steps of 32 MB: the allocations of earlier checks may be in the one that this is in. */
	used = figure(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
	TRUE(used >= BYTES);
	TRUE(figure(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) >= used);
	TRUE(figure(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) >= used);
	TRUE(figure(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) >=
	     figure(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
	OK(cuMemFree(address));
	OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
	EXPECT(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &five),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuDeviceGraphMemTrim(0));
	EXPECT(cuDeviceGraphMemTrim(99), CUDA_ERROR_INVALID_DEVICE);
}

static void no_node_frees_it_once_its_graph_was_instantiated(void)
{
	CUgraphNode release;

	allocate();
	instantiate(0);
	EXPECT(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, address),
	       CUDA_ERROR_INVALID_VALUE);
	run();
	OK(cuMemFree(address));
	EXPECT(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, address),
	       CUDA_ERROR_INVALID_VALUE);
}

static void freeing_nothing_leaves_a_capture_valid(void)
{
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuMemFreeAsync(0, stream));
	OK(cuMemFree(0));
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
}

static void a_free_node_is_not_set(void)
{
	CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
	CUgraphNode release;

	allocate();
	OK(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, address));
	instantiate(0);
	params.free.dptr = address;
	EXPECT(cuGraphNodeSetParams(release, &params), CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(cuGraphExecNodeSetParams(exec, release, &params), CUDA_ERROR_NOT_SUPPORTED);
}

static void freed_inside_it_is_freed_by_no_call(void)
{
	CUgraphNode release;

	allocate();
	OK(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, address));
	instantiate(0);
	OK(cuGraphLaunch(exec, stream));
	run();
	EXPECT(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFreeAsync(address, stream), CUDA_ERROR_INVALID_VALUE);
}

static void a_graph_that_only_frees_is_bound_too(void)
{
	CUgraph freeing, clone;
	CUgraphExec first, second;
	CUgraphNode release;

	allocate();
	OK(cuGraphCreate(&freeing, 0));
	OK(cuGraphAddMemFreeNode(&release, freeing, NULL, 0, address));
	OK(cuGraphInstantiate(&first, freeing, 0));
	EXPECT(cuGraphInstantiate(&second, freeing, 0), CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(cuGraphClone(&clone, freeing), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphExecDestroy(first));
	OK(cuGraphDestroy(freeing));
}

#define NODES "Graph Management: cuGraphAddMemAllocNode"
#define FREES "Graph Management: cuGraphAddMemFreeNode"
#define GUIDE "Programming Guide, CUDA Graphs, Graph Memory Nodes"
#define MOVED "Data types: CUgraphChildGraphNodeOwnership"

const struct check memory_node_checks[] = {
	CHECK(parameters_of_an_allocation,
          "Graph Management: cuGraphMemAllocNodeGetParams, cuGraphMemFreeNodeGetParams"),
	CHECK(an_allocation_has_known_parameters, NODES),
	CHECK(captured_allocations_are_used_and_freed, GUIDE ", Stream Capture"),
	CHECK(a_capture_frees_only_memory_of_graphs, FREES),
	CHECK(no_bytes_are_captured_as_nothing,
          MEASURED("Stream Ordered Memory Allocator: cuMemAllocAsync", "says nothing of captures")),
	CHECK(an_allocation_is_used_after_its_graph,
          GUIDE ", Accessing and Freeing Graph Memory Outside of the Allocating Graph"),
	CHECK(memory_is_there_once_it_was_launched, NODES),
	CHECK(memory_not_launched_has_no_attributes,
          MEASURED(GUIDE, "the address is fixed when the node is made")),
	CHECK(an_unfreed_graph_is_not_launched_again, "Graph Management: cuGraphLaunch"),
	CHECK(unfreed_memory_may_be_freed_by_the_next_launch,
          GUIDE ", cudaGraphInstantiateFlagAutoFreeOnLaunch"),
	CHECK(another_graph_frees, NODES),
	CHECK(an_allocation_is_freed_once_in_its_graph, FREES),
	CHECK(only_allocations_of_graphs_are_freed_by_nodes, FREES),
	CHECK(one_executable_graph_exists_at_a_time, "Graph Management: cuGraphInstantiateWithParams"),
	CHECK(a_graph_with_memory_is_not_cloned, "Graph Management: cuGraphClone"),
	CHECK(its_nodes_and_edges_stay,
          "Graph Management: cuGraphDestroyNode, cuGraphRemoveDependencies"),
	CHECK(it_becomes_a_child_only_by_moving, MOVED),
	CHECK(a_moved_child_is_its_parents, MOVED),
	CHECK(live_memory_outlives_its_graph, GUIDE),
	CHECK(memory_of_graphs_is_counted,
          MEASURED("Graph Management: cuDeviceGetGraphMemAttribute, cuDeviceSetGraphMemAttribute",
                   "does not say in which steps")),
	CHECK(no_node_frees_it_once_its_graph_was_instantiated, MEASURED(FREES, "does not say so")),
	CHECK(freeing_nothing_leaves_a_capture_valid,
          MEASURED("Stream Ordered Memory Allocator: cuMemFreeAsync", "says nothing of address 0")),
	CHECK(a_free_node_is_not_set,
          "Graph Management: cuGraphNodeSetParams, cuGraphExecNodeSetParams"),
	CHECK(freed_inside_it_is_freed_by_no_call, NODES),
	CHECK(a_graph_that_only_frees_is_bound_too, FREES),
	CHECKS_END,
};
