/* Edges and their data, clones, child graphs, files, instantiation in detail, user objects. */
#include "conformance.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const CUgraphEdgeData programmatic = {CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                             0,
                                             CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
                                             {0}};

static CUgraphNode kernel(const CUgraphNode *before, size_t count)
{
	CUDA_KERNEL_NODE_PARAMS params = {.func = function("nothing"),
	                                  .gridDimX = 1,
	                                  .gridDimY = 1,
	                                  .gridDimZ = 1,
	                                  .blockDimX = 1,
	                                  .blockDimY = 1,
	                                  .blockDimZ = 1};
	CUgraphNode node;

	if (!graph)
		OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddKernelNode(&node, graph, before, count, &params));
	return node;
}

static CUgraphNode memset_node(void)
{
	CUDA_MEMSET_NODE_PARAMS params = {.dst = words(), .elementSize = 4, .width = 4, .height = 1};
	CUgraphNode node;

	OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, context));
	return node;
}

static void dependencies_are_of_the_graph_and_named_once(void)
{
	CUgraphNode first = kernel(NULL, 0), twice[] = {first, first}, made;
	CUgraph second;

	EXPECT(cuGraphAddEmptyNode(&made, graph, twice, 2), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddEmptyNode(&made, graph, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphAddEmptyNode(&made, graph, twice, 0));
	OK(cuGraphCreate(&second, 0));
	EXPECT(cuGraphAddEmptyNode(&made, second, &first, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphAddEmptyNode(&made, second, NULL, 0));
	EXPECT(cuGraphAddDependencies(graph, &first, &made, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(second));
}

static void an_edge_keeps_its_data(void)
{
	CUgraphNode first = kernel(NULL, 0), second = kernel(NULL, 0), from[2], to[2];
	CUgraphEdgeData data[2];
	size_t count = 2;

	OK(cuGraphAddDependencies(graph, &first, &second, &programmatic, 1));
	OK(cuGraphGetEdges(graph, from, to, data, &count));
	EQUAL(count, 1);
	TRUE(from[0] == first && to[0] == second && from[1] == NULL);
	EQUAL(data[0].from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
	EQUAL(data[0].type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
	count = 2;
	OK(cuGraphNodeGetDependencies(second, from, data, &count));
	EQUAL(data[0].type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
	run_graph();
}

static void a_lossy_query_is_refused(void)
{
	CUgraphNode first = kernel(NULL, 0), second = kernel(NULL, 0), from[2], to[2];
	size_t count = 2;

	OK(cuGraphAddDependencies(graph, &first, &second, &programmatic, 1));
	EXPECT(cuGraphGetEdges(graph, from, to, NULL, &count), CUDA_ERROR_LOSSY_QUERY);
	EXPECT(cuGraphNodeGetDependencies(second, from, NULL, &count), CUDA_ERROR_LOSSY_QUERY);
	OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
	EQUAL(count, 1);
}

static CUresult connect(CUgraphNode from, CUgraphNode to, unsigned char from_port,
                        unsigned char to_port, unsigned char type)
{
	CUgraphEdgeData data = {from_port, to_port, type, {0}};

	return cuGraphAddDependencies(graph, &from, &to, &data, 1);
}

static void programmatic_edges_are_between_kernels(void)
{
	CUgraphNode first = kernel(NULL, 0), second = kernel(NULL, 0), set = memset_node();

	EXPECT(connect(first, set, 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(connect(set, second, 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(connect(first, second, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(connect(first, second, 9, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(connect(first, second, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(connect(first, second, 0, 0, 7), CUDA_ERROR_INVALID_VALUE);
	OK(connect(first, second, 1, 0, 1));
	EXPECT(connect(first, second, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

static void an_edge_is_removed_whatever_its_data(void)
{
	CUgraphNode first = kernel(NULL, 0), second = kernel(NULL, 0);

	OK(cuGraphAddDependencies(graph, &first, &second, &programmatic, 1));
	OK(cuGraphRemoveDependencies(graph, &first, &second, NULL, 1));
	EXPECT(cuGraphRemoveDependencies(graph, &first, &second, NULL, 1), CUDA_ERROR_INVALID_VALUE);
}

static void serialised_launches_are_captured_with_a_programmatic_edge(void)
{
	CUlaunchAttribute serial = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	                            .value.programmaticStreamSerializationAllowed = 1};
	CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, &serial, 1};
	CUgraphNode from[2], to[2];
	CUgraphEdgeData data[2];
	size_t count = 2;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	OK(cuLaunchKernelEx(&config, function("nothing"), NULL, NULL));
	capture_end();
	OK(cuGraphGetEdges(graph, from, to, data, &count));
	EQUAL(count, 1);
	EQUAL(data[0].type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
}

static void nodes_are_found_in_a_clone(void)
{
	CUgraphNode first = kernel(NULL, 0), second = kernel(&first, 1), found = NULL, all[2];
	CUgraph clone;

	OK(cuGraphClone(&clone, graph));
	nodes(clone, all, 2);
	OK(cuGraphNodeFindInClone(&found, first, clone));
	TRUE(found == all[0] && found != first);
	OK(cuGraphNodeFindInClone(&found, second, clone));
	TRUE(found == all[1]);
	OK(cuGraphDestroyNode(all[1]));
	EXPECT(cuGraphNodeFindInClone(&found, second, clone), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphNodeFindInClone(&found, first, graph), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(clone));
}

static void a_clone_goes_its_own_way(void)
{
	CUgraphNode first = kernel(NULL, 0), made;
	CUgraph clone;

	OK(cuGraphClone(&clone, graph));
	OK(cuGraphAddEmptyNode(&made, graph, &first, 1));
	OK(cuGraphDestroyNode(first));
	EQUAL(nodes(graph, NULL, 0), 1);
	EQUAL(nodes(clone, NULL, 0), 1);
	OK(cuGraphDestroy(clone));
}

static void destroying_a_node_cuts_its_edges(void)
{
	CUgraphNode first = kernel(NULL, 0), second = kernel(&first, 1);
	size_t count = 9;

	kernel(&second, 1);
	OK(cuGraphDestroyNode(second));
	EQUAL(nodes(graph, NULL, 0), 2);
	OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
	EQUAL(count, 0);
}

static void a_child_graph_is_a_clone(void)
{
	CUdeviceptr list = words();
	CUgraph child, inside = NULL;
	CUgraphNode node, original, found;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, 1, stream));
	capture_end();
	child = graph;
	nodes(child, &original, 1);
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	EQUAL(type_of(node), CU_GRAPH_NODE_TYPE_GRAPH);
	OK(cuGraphChildGraphNodeGetGraph(node, &inside));
	TRUE(inside != child);
	OK(cuGraphNodeFindInClone(&found, original, inside));
	OK(cuGraphDestroy(child));
	EXPECT(cuGraphDestroy(inside), CUDA_ERROR_INVALID_VALUE);
	run_graph();
	is_list(list, 1);
}

static void a_child_graph_is_not_instantiated_alone(void)
{
	CUgraph child, inside;
	CUgraphNode node;

	kernel(NULL, 0);
	child = graph;
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	OK(cuGraphDestroy(child));
	OK(cuGraphChildGraphNodeGetGraph(node, &inside));
	EXPECT(cuGraphInstantiate(&exec, inside, 0), CUDA_ERROR_NOT_SUPPORTED);
	exec = NULL;
}

static void a_graph_is_drawn_to_a_file(void)
{
	char path[64], text[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/conformance-graph-%d.dot", (int)getpid());
	kernel(NULL, 0);
	OK(cuGraphDebugDotPrint(graph, path, 0));
	file = fopen(path, "r");
	TRUE(file != NULL);
	TRUE(fgets(text, sizeof(text), file) != NULL);
	fclose(file);
	unlink(path);
	TRUE(strncmp(text, "digraph", 7) == 0);
}

static void instantiation_names_a_node_of_a_cycle(void)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 0};
	CUgraphNode first = kernel(NULL, 0), second = kernel(&first, 1);

	OK(cuGraphAddDependencies(graph, &second, &first, NULL, 1));
	EXPECT(cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_ERROR_INVALID_VALUE);
	exec = NULL;
	EQUAL(params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
	TRUE(params.hErrNode_out == first || params.hErrNode_out == second);
}

static void instantiation_tells_success(void)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
	                                        .hUploadStream = stream,
	                                        .hErrNode_out = (CUgraphNode)1,
	                                        .result_out = (CUgraphInstantiateResult)77};

	kernel(NULL, 0);
	OK(cuGraphInstantiateWithParams(&exec, graph, &params));
	EQUAL(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
	TRUE(params.hErrNode_out == NULL);
	run_graph();
}

static void an_upload_needs_a_stream(void)
{
	kernel(NULL, 0);
	EXPECT(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD),
	       CUDA_ERROR_INVALID_VALUE);
	exec = NULL;
}

static void graphs_for_the_device_have_few_kinds_of_nodes(void)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
	CUgraphNode empty;

	kernel(NULL, 0);
	OK(cuGraphInstantiateWithParams(&exec, graph, &params));
	OK(cuGraphExecDestroy(exec));
	exec = NULL;
	OK(cuGraphAddEventRecordNode(&empty, graph, NULL, 0, event_new(0)));
	EXPECT(cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_ERROR_INVALID_VALUE);
	EQUAL(params.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
	TRUE(params.hErrNode_out == empty);
	params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
	EXPECT(cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_ERROR_INVALID_VALUE);
	exec = NULL;
}

/* ---- user objects ---- */

static int destroyed;

static void CUDA_CB destroy(void *data)
{
	(void)data;
	__atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}

/* Destructors run in a thread of the driver's. */
static void destroyed_soon(int wanted)
{
	const struct timespec pause = {0, 1000000};
	int tries;

	for (tries = 0; tries < 5000 && __atomic_load_n(&destroyed, __ATOMIC_SEQ_CST) != wanted;
	     tries++)
		nanosleep(&pause, NULL);
	EQUAL(__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST), wanted);
}

static CUuserObject object_new(unsigned int count)
{
	CUuserObject object;

	destroyed = 0;
	OK(cuUserObjectCreate(&object, NULL, destroy, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	return object;
}

static void a_user_object_has_a_destructor_and_a_flag(void)
{
	CUuserObject object;

	EXPECT(cuUserObjectCreate(&object, NULL, destroy, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuUserObjectCreate(&object, NULL, destroy, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuUserObjectCreate(&object, NULL, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
	       CUDA_ERROR_INVALID_VALUE);
}

static void the_last_reference_destroys(void)
{
	CUuserObject object = object_new(2);

	OK(cuUserObjectRetain(object, 1));
	EXPECT(cuUserObjectRetain(object, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuUserObjectRelease(object, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuUserObjectRelease(object, 2));
	EQUAL(destroyed, 0);
	OK(cuUserObjectRelease(object, 1));
	destroyed_soon(1);
}

static void a_graph_holds_references(void)
{
	CUuserObject object = object_new(1);
	CUgraph clone;

	OK(cuGraphCreate(&graph, 0));
	EXPECT(cuGraphRetainUserObject(graph, object, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphRetainUserObject(graph, object, 1, 2), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	OK(cuGraphClone(&clone, graph));
	EXPECT(cuGraphReleaseUserObject(graph, object, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphReleaseUserObject(graph, object, 1));
	EQUAL(destroyed, 0);
	OK(cuGraphDestroy(clone));
	destroyed_soon(1);
}

static void an_executable_graph_holds_references_until_it_has_run(void)
{
	CUuserObject object = object_new(1);

	kernel(NULL, 0);
	OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	graph = NULL;
	hold(stream);
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphExecDestroy(exec));
	exec = NULL;
	EQUAL(destroyed, 0);
	release();
	finish(stream);
	destroyed_soon(1);
}

static void a_child_graph_holds_references(void)
{
	CUuserObject object = object_new(1);
	CUgraphNode node;
	CUgraph child;

	OK(cuGraphCreate(&child, 0));
	OK(cuGraphRetainUserObject(child, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	OK(cuGraphDestroy(child));
	EQUAL(destroyed, 0);
	OK(cuGraphDestroy(graph));
	graph = NULL;
	destroyed_soon(1);
}

#define GRAPH "Graph Management: "
#define OBJECTS "Programming Guide, CUDA Graphs, CUDA User Objects"
#define EDGES "Programming Guide, CUDA Graphs, Edge Data"

const struct check edge_checks[] = {
	CHECK(dependencies_are_of_the_graph_and_named_once, GRAPH "cuGraphAddEmptyNode"),
	CHECK(an_edge_keeps_its_data, EDGES),
	CHECK(a_lossy_query_is_refused, GRAPH "cuGraphGetEdges"),
	CHECK(programmatic_edges_are_between_kernels,
          "Data types: CUgraphEdgeData, CUgraphDependencyType"),
	CHECK(an_edge_is_removed_whatever_its_data,
          MEASURED(GRAPH "cuGraphRemoveDependencies", "an error without matching data")),
	CHECK(serialised_launches_are_captured_with_a_programmatic_edge,
          "Programming Guide, Programmatic Dependent Launch, Use in CUDA Graphs"),
	CHECK(nodes_are_found_in_a_clone, GRAPH "cuGraphNodeFindInClone"),
	CHECK(a_clone_goes_its_own_way, GRAPH "cuGraphClone"),
	CHECK(destroying_a_node_cuts_its_edges, GRAPH "cuGraphDestroyNode"),
	CHECK(a_child_graph_is_a_clone, GRAPH "cuGraphAddChildGraphNode"),
	CHECK(a_child_graph_is_not_instantiated_alone,
          MEASURED(GRAPH "cuGraphChildGraphNodeGetGraph", "says nothing of it")),
	CHECK(a_graph_is_drawn_to_a_file, GRAPH "cuGraphDebugDotPrint"),
	CHECK(instantiation_names_a_node_of_a_cycle, GRAPH "cuGraphInstantiateWithParams"),
	CHECK(instantiation_tells_success, GRAPH "cuGraphInstantiateWithParams"),
	CHECK(an_upload_needs_a_stream,
          MEASURED(GRAPH "cuGraphInstantiateWithFlags", "lists the upload flag")),
	CHECK(graphs_for_the_device_have_few_kinds_of_nodes, GRAPH "cuGraphInstantiateWithParams"),
	CHECK(a_user_object_has_a_destructor_and_a_flag, "Graph Management: cuUserObjectCreate"),
	CHECK(the_last_reference_destroys, OBJECTS),
	CHECK(a_graph_holds_references, OBJECTS),
	CHECK(an_executable_graph_holds_references_until_it_has_run, OBJECTS),
	CHECK(a_child_graph_holds_references, OBJECTS),
	CHECKS_END,
};
