/* Stream capture: what it records, what it tells, how it ends. */
#include "conformance.h"

#define GLOBAL_MODE CU_STREAM_CAPTURE_MODE_GLOBAL
#define LOCAL_MODE CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED_MODE CU_STREAM_CAPTURE_MODE_RELAXED

static void captured_work_runs_when_it_is_launched(void)
{
	CUdeviceptr list = words();

	begin(GLOBAL_MODE);
	OK(append(list, 1, stream));
	OK(append(list, 2, stream));
	capture_end();
	EQUAL(word(list, 0), 0);
	run_graph();
	is_list(list, 2);
}

static void an_empty_capture_is_a_graph(void)
{
	begin(GLOBAL_MODE);
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 0);
	run_graph();
}

static void a_capture_has_a_status(void)
{
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
	begin(GLOBAL_MODE);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	EQUAL(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
	capture_end();
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
}

static void the_legacy_stream_is_not_captured(void)
{
	EXPECT(cuStreamBeginCapture(NULL, RELAXED_MODE), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamBeginCapture(CU_STREAM_LEGACY, RELAXED_MODE),
	       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

static void the_per_thread_stream_is_captured(void)
{
	OK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, RELAXED_MODE));
	OK(launch("nothing", CU_STREAM_PER_THREAD, NULL));
	OK(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
	EQUAL(nodes(graph, NULL, 0), 1);
}

static void a_capture_has_a_known_mode(void)
{
	EXPECT(cuStreamBeginCapture(stream, (CUstreamCaptureMode)7), CUDA_ERROR_INVALID_VALUE);
}

static void a_capture_is_begun_once(void)
{
	begin(GLOBAL_MODE);
	EXPECT(cuStreamBeginCapture(stream, GLOBAL_MODE), CUDA_ERROR_ILLEGAL_STATE);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
}

static void a_capture_that_was_not_begun_does_not_end(void)
{
	EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
}

static void a_capture_may_end_without_its_graph(void)
{
	begin(GLOBAL_MODE);
	OK(cuStreamEndCapture(stream, NULL));
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
}

static CUresult result;

static void end_there(void)
{
	result = cuStreamEndCapture(stream, &graph);
}

/* The end is refused, and the capture is over all the same. */
static void another_thread_spoils(CUstreamCaptureMode mode)
{
	begin(mode);
	in_thread(end_there);
	EXPECT(result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
	end_is(CUDA_ERROR_ILLEGAL_STATE);
	graph = NULL;
}

static void another_thread_spoils_a_global_capture_by_ending_it(void)
{
	another_thread_spoils(GLOBAL_MODE);
}
static void another_thread_spoils_a_thread_local_capture_by_ending_it(void)
{
	another_thread_spoils(LOCAL_MODE);
}

static void a_relaxed_capture_ends_in_any_thread(void)
{
	begin(RELAXED_MODE);
	in_thread(end_there);
	OK(result);
	TRUE(graph != NULL);
}

static void launch_there(void)
{
	result = launch("nothing", stream, NULL);
}

static void any_thread_may_add_to_a_capture(void)
{
	begin(GLOBAL_MODE);
	OK(launch("nothing", stream, NULL));
	in_thread(launch_there);
	OK(result);
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 2);
}

static void two_streams_capture_at_once(void)
{
	CUgraph second;

	begin(GLOBAL_MODE);
	OK(cuStreamBeginCapture(other, GLOBAL_MODE));
	OK(launch("nothing", stream, NULL));
	OK(cuStreamEndCapture(other, &second));
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 1);
	EQUAL(nodes(second, NULL, 0), 0);
	OK(cuGraphDestroy(second));
}

static cuuint64_t id_of_capture(CUstream of)
{
	CUstreamCaptureStatus active;
	cuuint64_t id = 0;

	OK(cuStreamGetCaptureInfo(of, &active, &id, NULL, NULL, NULL, NULL));
	EQUAL(active, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	return id;
}

static void each_capture_has_an_id(void)
{
	cuuint64_t first;

	begin(GLOBAL_MODE);
	first = id_of_capture(stream);
	capture_end();
	OK(cuGraphDestroy(graph));
	begin(GLOBAL_MODE);
	TRUE(id_of_capture(stream) != first);
	capture_end();
}

static void info_tells_the_graph_and_the_dependencies(void)
{
	CUstreamCaptureStatus active;
	const CUgraphNode *before;
	const CUgraphEdgeData *data;
	CUgraph building = NULL;
	CUgraphNode all[2];
	size_t count = 9;
	cuuint64_t id;

	begin(GLOBAL_MODE);
	OK(cuStreamGetCaptureInfo(stream, &active, &id, &building, &before, &data, &count));
	EQUAL(count, 0);
	OK(launch("nothing", stream, NULL));
	OK(launch("nothing", stream, NULL));
	OK(cuStreamGetCaptureInfo(stream, &active, &id, &building, &before, &data, &count));
	EQUAL(count, 1);
	EQUAL(nodes(building, all, 2), 2);
	TRUE(before[0] == all[1]);
	capture_end();
	TRUE(graph == building);
}

static void info_of_no_capture_is_only_the_status(void)
{
	CUstreamCaptureStatus none = CU_STREAM_CAPTURE_STATUS_ACTIVE;

	OK(cuStreamGetCaptureInfo(stream, &none, NULL, NULL, NULL, NULL, NULL));
	EQUAL(none, CU_STREAM_CAPTURE_STATUS_NONE);
	EXPECT(cuStreamGetCaptureInfo(stream, NULL, NULL, NULL, NULL, NULL, NULL),
	       CUDA_ERROR_INVALID_VALUE);
}

static void dependencies_may_be_replaced(void)
{
	CUgraphNode all[2], first;
	size_t count = 0;

	begin(GLOBAL_MODE);
	OK(launch("nothing", stream, NULL));
	OK(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0,
	                                     CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	OK(launch("nothing", stream, NULL));
	{
		CUstreamCaptureStatus active;
		CUgraph building;

		OK(cuStreamGetCaptureInfo(stream, &active, NULL, &building, NULL, NULL, NULL));
		EQUAL(nodes(building, all, 2), 2);
		first = all[0];
	}
	OK(cuStreamUpdateCaptureDependencies(stream, &first, NULL, 1,
	                                     CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
	capture_end();
	OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
	EQUAL(count, 0);
}

static void a_capture_goes_into_a_graph_given(void)
{
	CUgraphNode root, all[2];
	CUgraph given = NULL;
	size_t count = 0;

	OK(cuGraphCreate(&given, 0));
	OK(cuGraphAddEmptyNode(&root, given, NULL, 0));
	OK(cuStreamBeginCaptureToGraph(stream, given, &root, NULL, 1, GLOBAL_MODE));
	OK(launch("nothing", stream, NULL));
	capture_end();
	TRUE(graph == given);
	EQUAL(nodes(graph, all, 2), 2);
	OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
	EQUAL(count, 1);
}

static void a_capture_into_a_graph_takes_its_nodes(void)
{
	CUgraphNode root, stranger;
	CUgraph second;

	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEmptyNode(&root, graph, NULL, 0));
	OK(cuGraphCreate(&second, 0));
	OK(cuGraphAddEmptyNode(&stranger, second, NULL, 0));
	EXPECT(cuStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, GLOBAL_MODE),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamBeginCaptureToGraph(stream, graph, &stranger, NULL, 1, GLOBAL_MODE),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 1, GLOBAL_MODE),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamBeginCaptureToGraph(stream, graph, &root, NULL, 1, (CUstreamCaptureMode)7),
	       CUDA_ERROR_INVALID_VALUE);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
	OK(cuGraphDestroy(second));
}

static void info_of_an_invalidated_capture_is_only_the_status(void)
{
	CUstreamCaptureStatus told = CU_STREAM_CAPTURE_STATUS_NONE;
	CUgraph building = (CUgraph)1;
	cuuint64_t id = 77;

	begin(RELAXED_MODE);
	EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	OK(cuStreamGetCaptureInfo(stream, &told, &id, &building, NULL, NULL, NULL));
	EQUAL(told, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	EQUAL(id, 77);
	TRUE(building == (CUgraph)1);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void dependencies_need_a_capture(void)
{
	EXPECT(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0,
	                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES),
	       CUDA_ERROR_ILLEGAL_STATE);
}

static void nodes_taken_out_need_not_be_joined(void)
{
	begin(GLOBAL_MODE);
	OK(launch("nothing", stream, NULL));
	OK(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0,
	                                     CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	OK(launch("nothing", stream, NULL));
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 2);
}

static void capture_modes_are_exchanged(void)
{
	CUstreamCaptureMode mode = RELAXED_MODE;

	OK(cuThreadExchangeStreamCaptureMode(&mode));
	EQUAL(mode, GLOBAL_MODE);
	mode = LOCAL_MODE;
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	EQUAL(mode, RELAXED_MODE);
}

static void a_thread_takes_an_unknown_capture_mode(void)
{
	CUstreamCaptureMode mode = (CUstreamCaptureMode)7;

	OK(cuThreadExchangeStreamCaptureMode(&mode));
}

static void destroying_a_capturing_stream_ends_its_capture(void)
{
	CUstream made;

	OK(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture(made, GLOBAL_MODE));
	OK(launch("nothing", made, NULL));
	OK(cuStreamDestroy(made));
	OK(cuCtxSynchronize());
}

/* Begins a capture into a graph with one node, whose handle is the answer. */
static CUgraph begin_to_graph(CUgraphNode *root)
{
	CUgraph given;

	OK(cuGraphCreate(&given, 0));
	OK(cuGraphAddEmptyNode(root, given, NULL, 0));
	OK(cuStreamBeginCaptureToGraph(stream, given, root, NULL, 1, RELAXED_MODE));
	return given;
}

static void nodes_made_meanwhile_need_not_be_joined(void)
{
	CUgraphNode root, made;
	CUgraph given = begin_to_graph(&root);

	OK(cuGraphAddEmptyNode(&made, given, NULL, 0));
	OK(launch("nothing", stream, NULL));
	OK(cuStreamUpdateCaptureDependencies(stream, &root, NULL, 1,
	                                     CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	capture_end();
	TRUE(graph == given);
	EQUAL(nodes(graph, NULL, 0), 3);
}

static void a_graph_given_goes_with_its_invalid_capture(void)
{
	CUgraphNode root;
	CUgraph given = begin_to_graph(&root);

	EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	TRUE(graph == NULL);
	EXPECT(cuGraphDestroy(given), CUDA_ERROR_INVALID_VALUE);
}

static void a_graph_being_captured_is_kept(void)
{
	CUgraphNode root;
	CUgraph given = begin_to_graph(&root);

	EXPECT(cuGraphDestroyNode(root), CUDA_ERROR_ILLEGAL_STATE);
	EXPECT(cuGraphDestroy(given), CUDA_ERROR_ILLEGAL_STATE);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
	TRUE(graph == given);
}

static void a_graph_being_captured_may_be_instantiated_and_cloned(void)
{
	CUgraphNode root;
	CUgraph given = begin_to_graph(&root), clone;

	OK(cuGraphInstantiate(&exec, given, 0));
	OK(cuGraphClone(&clone, given));
	OK(cuGraphDestroy(clone));
	capture_end();
}

static void dependencies_of_an_ended_capture_are_not_updated(void)
{
	CUgraphNode root;

	begin_to_graph(&root);
	EXPECT(cuStreamUpdateCaptureDependencies(stream, &root, NULL, 1, 2), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	capture_end();
	EXPECT(cuStreamUpdateCaptureDependencies(stream, &root, NULL, 1,
	                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES),
	       CUDA_ERROR_ILLEGAL_STATE);
}

#define CAPTURE "Stream Management: "
#define WRONG_THREAD \
	"the end must come from the thread that began, with nothing said of what is left"

const struct check capture_checks[] = {
	CHECK(captured_work_runs_when_it_is_launched, "Programming Guide, CUDA Graphs, Stream Capture"),
	CHECK(an_empty_capture_is_a_graph, CAPTURE "cuStreamEndCapture"),
	CHECK(a_capture_has_a_status, CAPTURE "cuStreamIsCapturing"),
	CHECK(the_legacy_stream_is_not_captured, CAPTURE "cuStreamBeginCapture"),
	CHECK(the_per_thread_stream_is_captured, CAPTURE "cuStreamBeginCapture"),
	CHECK(a_capture_has_a_known_mode, CAPTURE "cuStreamBeginCapture"),
	CHECK(a_capture_is_begun_once, CAPTURE "cuStreamBeginCapture"),
	CHECK(a_capture_that_was_not_begun_does_not_end, CAPTURE "cuStreamEndCapture"),
	CHECK(a_capture_may_end_without_its_graph,
          MEASURED(CAPTURE "cuStreamEndCapture", "CUDA_ERROR_INVALID_VALUE")),
	CHECK(another_thread_spoils_a_global_capture_by_ending_it,
          MEASURED(CAPTURE "cuStreamEndCapture", WRONG_THREAD)),
	CHECK(another_thread_spoils_a_thread_local_capture_by_ending_it,
          MEASURED(CAPTURE "cuStreamEndCapture", WRONG_THREAD)),
	CHECK(a_relaxed_capture_ends_in_any_thread, CAPTURE "cuStreamEndCapture"),
	CHECK(any_thread_may_add_to_a_capture, CAPTURE "cuStreamBeginCapture"),
	CHECK(two_streams_capture_at_once, "Programming Guide, CUDA Graphs, Stream Capture"),
	CHECK(each_capture_has_an_id, CAPTURE "cuStreamGetCaptureInfo"),
	CHECK(info_tells_the_graph_and_the_dependencies, CAPTURE "cuStreamGetCaptureInfo"),
	CHECK(info_of_no_capture_is_only_the_status, CAPTURE "cuStreamGetCaptureInfo"),
	CHECK(dependencies_may_be_replaced, CAPTURE "cuStreamUpdateCaptureDependencies"),
	CHECK(dependencies_need_a_capture, CAPTURE "cuStreamUpdateCaptureDependencies"),
	CHECK(nodes_taken_out_need_not_be_joined, CAPTURE "cuStreamUpdateCaptureDependencies"),
	CHECK(a_capture_into_a_graph_takes_its_nodes, CAPTURE "cuStreamBeginCaptureToGraph"),
	CHECK(info_of_an_invalidated_capture_is_only_the_status, CAPTURE "cuStreamGetCaptureInfo"),
	CHECK(a_capture_goes_into_a_graph_given, CAPTURE "cuStreamBeginCaptureToGraph"),
	CHECK(capture_modes_are_exchanged, CAPTURE "cuThreadExchangeStreamCaptureMode"),
	CHECK(a_thread_takes_an_unknown_capture_mode,
          MEASURED(CAPTURE "cuThreadExchangeStreamCaptureMode", "lists three modes")),
	CHECK(destroying_a_capturing_stream_ends_its_capture, CAPTURE "cuStreamDestroy"),
	CHECK(nodes_made_meanwhile_need_not_be_joined,
          MEASURED(CAPTURE "cuStreamBeginCaptureToGraph",
                   "says nothing of nodes made by other calls")),
	CHECK(a_graph_given_goes_with_its_invalid_capture,
          MEASURED(CAPTURE "cuStreamEndCapture",
                   "a NULL graph is returned, not said what becomes of one given")),
	CHECK(a_graph_being_captured_is_kept,
          MEASURED("Graph Management: cuGraphDestroy, cuGraphDestroyNode",
                   "says nothing of captures")),
	CHECK(a_graph_being_captured_may_be_instantiated_and_cloned,
          MEASURED("Graph Management: cuGraphInstantiate, cuGraphClone",
                   "says nothing of captures")),
	CHECK(dependencies_of_an_ended_capture_are_not_updated,
          CAPTURE "cuStreamUpdateCaptureDependencies"),
	CHECKS_END,
};
