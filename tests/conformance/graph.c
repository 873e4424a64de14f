/* Graphs: what becomes which node, building by hand, instantiating, launching. */
#include "conformance.h"

static void CUDA_CB nothing_to_do(void *unused)
{
	(void)unused;
}

static CUgraphNodeType only_type(void)
{
	CUgraphNode node;

	capture_end();
	EQUAL(nodes(graph, NULL, 0), 1);
	EQUAL(nodes(graph, &node, 1), 1);
	return type_of(node);
}

static void a_launch_becomes_a_kernel_node(void)
{
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	EQUAL(only_type(), CU_GRAPH_NODE_TYPE_KERNEL);
}

static void a_copy_becomes_a_memcpy_node(void)
{
	CUdeviceptr first = words(), second = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyDtoDAsync(first, second, 16, stream));
	EQUAL(only_type(), CU_GRAPH_NODE_TYPE_MEMCPY);
}

static void a_copy_of_pinned_memory_becomes_a_memcpy_node(void)
{
	CUdeviceptr device = words();
	volatile unsigned *host = pinned();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpyHtoDAsync(device, (const void *)(uintptr_t)host, 16, stream));
	EQUAL(only_type(), CU_GRAPH_NODE_TYPE_MEMCPY);
	host[1] = 5;
	run_graph();
	EQUAL(word(device, 1), 5);
}

static void a_memset_becomes_a_memset_node(void)
{
	CUdeviceptr device = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD32Async(device, 1, 4, stream));
	EQUAL(only_type(), CU_GRAPH_NODE_TYPE_MEMSET);
}

static void a_host_function_becomes_a_host_node(void)
{
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuLaunchHostFunc(stream, nothing_to_do, NULL));
	EQUAL(only_type(), CU_GRAPH_NODE_TYPE_HOST);
}

static void a_graph_launch_is_not_captured(void)
{
	CUgraphExec inner;
	CUgraph child;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	capture_end();
	child = graph;
	OK(cuGraphInstantiate(&inner, child, 0));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	EXPECT(cuGraphLaunch(inner, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	graph = NULL;
	cuStreamEndCapture(stream, &graph);
	OK(cuGraphExecDestroy(inner));
	OK(cuGraphDestroy(child));
}

static void no_bytes_become_no_node(void)
{
	CUdeviceptr device = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemsetD32Async(device, 1, 0, stream));
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 0);
}

static void nodes_form_a_chain(void)
{
	CUgraphNode from[4], to[4], roots[2];
	size_t count = 4;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	OK(launch("nothing", stream, NULL));
	OK(launch("nothing", stream, NULL));
	capture_end();
	OK(cuGraphGetEdges(graph, from, to, NULL, &count));
	EQUAL(count, 2);
	TRUE(to[0] == from[1]);
	count = 2;
	OK(cuGraphGetRootNodes(graph, roots, &count));
	EQUAL(count, 1);
	TRUE(roots[0] == from[0]);
	TRUE(roots[1] == NULL);
}

static void a_graph_may_be_launched_again_and_again(void)
{
	CUdeviceptr device = words();
	volatile unsigned *list = pinned();
	unsigned i;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append((CUdeviceptr)(uintptr_t)list, 7, stream));
	capture_end();
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphUpload(exec, stream));
	for (i = 0; i < 10; i++)
		OK(cuGraphLaunch(exec, i % 2 ? stream : other));
	finish(stream);
	finish(other);
	EQUAL(list[0], 10);
	EQUAL(word(device, 0), 0);
}

static void a_graph_takes_its_turn_in_the_stream(void)
{
	CUdeviceptr list = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, 2, stream));
	capture_end();
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(append(list, 1, stream));
	OK(cuGraphLaunch(exec, stream));
	OK(append(list, 3, stream));
	finish(stream);
	is_list(list, 3);
}

static void an_executable_graph_outlives_its_graph(void)
{
	CUdeviceptr list = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, 1, stream));
	capture_end();
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	graph = NULL;
	run_graph();
	is_list(list, 1);
}

static void a_cycle_is_not_instantiated(void)
{
	CUgraphNode first, second;

	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEmptyNode(&first, graph, NULL, 0));
	OK(cuGraphAddEmptyNode(&second, graph, &first, 1));
	OK(cuGraphAddDependencies(graph, &second, &first, NULL, 1));
	EXPECT(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
	exec = NULL;
}

static void an_edge_is_made_once(void)
{
	CUgraphNode first, second;

	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEmptyNode(&first, graph, NULL, 0));
	OK(cuGraphAddEmptyNode(&second, graph, &first, 1));
	EXPECT(cuGraphAddDependencies(graph, &first, &second, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddDependencies(graph, &first, &first, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphRemoveDependencies(graph, &first, &second, NULL, 1));
	EXPECT(cuGraphRemoveDependencies(graph, &first, &second, NULL, 1), CUDA_ERROR_INVALID_VALUE);
}

static void a_clone_is_alike(void)
{
	CUgraph clone;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	OK(launch("nothing", stream, NULL));
	capture_end();
	OK(cuGraphClone(&clone, graph));
	EQUAL(nodes(clone, NULL, 0), 2);
	OK(cuGraphDestroy(clone));
}

static void the_priority_flag_of_an_instantiation_is_not_told(void)
{
	cuuint64_t flags = 99;

	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
	OK(cuGraphExecGetFlags(exec, &flags));
	EQUAL(flags, 0);
}

static void instantiation_takes_known_flags(void)
{
	OK(cuGraphCreate(&graph, 0));
	EXPECT(cuGraphInstantiate(&exec, graph, 1024), CUDA_ERROR_INVALID_VALUE);
	exec = NULL;
}

static void creation_takes_no_flags(void)
{
	EXPECT(cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE);
	graph = NULL;
}

static void what_is_no_graph_is_invalid(void)
{
	EXPECT(cuGraphLaunch(NULL, stream), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphDestroy(NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphInstantiate(&exec, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	exec = NULL;
}

#define GRAPH "Graph Management: "
#define CAPTURED "Programming Guide, CUDA Graphs, Stream Capture"

const struct check graph_checks[] = {
	CHECK(a_launch_becomes_a_kernel_node, CAPTURED),
	CHECK(a_copy_becomes_a_memcpy_node, CAPTURED),
	CHECK(a_copy_of_pinned_memory_becomes_a_memcpy_node, CAPTURED),
	CHECK(a_memset_becomes_a_memset_node, CAPTURED),
	CHECK(a_host_function_becomes_a_host_node, CAPTURED),
	CHECK(a_graph_launch_is_not_captured,
          MEASURED(GRAPH "cuGraphLaunch", "says nothing of captures")),
	CHECK(no_bytes_become_no_node, CAPTURED),
	CHECK(nodes_form_a_chain, GRAPH "cuGraphGetEdges, cuGraphGetRootNodes"),
	CHECK(a_graph_may_be_launched_again_and_again, GRAPH "cuGraphLaunch"),
	CHECK(a_graph_takes_its_turn_in_the_stream, GRAPH "cuGraphLaunch"),
	CHECK(an_executable_graph_outlives_its_graph, GRAPH "cuGraphInstantiate"),
	CHECK(a_cycle_is_not_instantiated, GRAPH "cuGraphInstantiate"),
	CHECK(an_edge_is_made_once, GRAPH "cuGraphAddDependencies, cuGraphRemoveDependencies"),
	CHECK(a_clone_is_alike, GRAPH "cuGraphClone"),
	CHECK(the_priority_flag_of_an_instantiation_is_not_told,
          MEASURED(GRAPH "cuGraphExecGetFlags", "only the upload flag is not told")),
	CHECK(instantiation_takes_known_flags, GRAPH "cuGraphInstantiate"),
	CHECK(creation_takes_no_flags, GRAPH "cuGraphCreate"),
	CHECK(what_is_no_graph_is_invalid, GRAPH "cuGraphLaunch, cuGraphDestroy"),
	CHECKS_END,
};
