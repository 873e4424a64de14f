/* Captures over several streams: fork, join, events inside and outside. */
#include "conformance.h"

static void fork_to(CUstream to)
{
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);

	OK(cuEventRecord(event, stream));
	OK(cuStreamWaitEvent(to, event, 0));
}

static void join_from(CUstream from)
{
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);

	OK(cuEventRecord(event, from));
	OK(cuStreamWaitEvent(stream, event, 0));
}

static size_t edges(void)
{
	size_t count = 0;

	OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
	return count;
}

static void a_fork_and_a_join_become_edges(void)
{
	CUdeviceptr left = words(), right = words();

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(left, 1, stream));
	fork_to(other);
	EQUAL(status(other), CU_STREAM_CAPTURE_STATUS_ACTIVE);
	OK(append(right, 1, other));
	OK(append(left, 2, stream));
	join_from(other);
	OK(append(right, 2, stream));
	capture_end();
	EQUAL(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
	EQUAL(nodes(graph, NULL, 0), 4);
	EQUAL(edges(), 4);
	run_graph();
	is_list(left, 2);
	is_list(right, 2);
}

static void events_are_not_nodes(void)
{
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuEventRecord(event_new(0), stream));
	fork_to(other);
	join_from(other);
	capture_end();
	EQUAL(nodes(graph, NULL, 0), 0);
}

static void work_not_joined_is_an_error(void)
{
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	fork_to(other);
	OK(launch("nothing", other, NULL));
	end_is(CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
	TRUE(graph == NULL);
	EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
	EQUAL(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
}

static void a_capture_ends_where_it_began(void)
{
	CUgraph none = (CUgraph)1;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	fork_to(other);
	EXPECT(cuStreamEndCapture(other, &none), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void an_event_from_outside_is_isolated(void)
{
	CUevent outside = event_new(0);

	OK(cuEventRecord(outside, other));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	EXPECT(cuStreamWaitEvent(stream, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void two_captures_do_not_merge(void)
{
	CUevent inside = event_new(0);
	CUgraph none;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuEventRecord(inside, stream));
	EXPECT(cuStreamWaitEvent(other, inside, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	EXPECT(cuStreamEndCapture(other, &none), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void a_captured_event_is_not_queried(void)
{
	CUevent inside = event_new(0);

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuEventRecord(inside, stream));
	EXPECT(cuEventQuery(inside), CUDA_ERROR_CAPTURED_EVENT);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void a_captured_event_is_not_waited_for(void)
{
	CUevent inside = event_new(0);

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuEventRecord(inside, stream));
	EXPECT(cuEventSynchronize(inside), CUDA_ERROR_CAPTURED_EVENT);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void an_event_of_an_ended_capture_is_refused(void)
{
	CUevent inside = event_new(0);

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuEventRecord(inside, stream));
	capture_end();
	EXPECT(cuStreamWaitEvent(other, inside, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuEventRecord(inside, other));
	OK(cuEventSynchronize(inside));
}

static void external_records_and_waits_are_nodes(void)
{
	CUevent event = event_new(0);
	CUgraphNode all[2];

	OK(cuEventRecord(event, other));
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
	OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
	capture_end();
	EQUAL(nodes(graph, all, 2), 2);
	EQUAL(type_of(all[0]), CU_GRAPH_NODE_TYPE_WAIT_EVENT);
	EQUAL(type_of(all[1]), CU_GRAPH_NODE_TYPE_EVENT_RECORD);
	run_graph();
	OK(cuEventSynchronize(event));
}

/* ---- events that graphs record ---- */

/* A graph in which `event` is recorded between two entries of a list. */
static void graph_that_records(CUdeviceptr list, CUevent event)
{
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(append(list, 1, stream));
	OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
	OK(append(list, 2, stream));
	capture_end();
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static void a_graph_records_when_it_comes_there(void)
{
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);

	OK(cuEventRecord(event, other));
	finish(other);
	graph_that_records(words(), event);
	OK(cuEventQuery(event)); /* not before the launch */
	hold(stream);
	OK(cuGraphLaunch(exec, stream));
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	release();
	OK(cuEventSynchronize(event));
	OK(cuEventQuery(event));
	finish(stream);
}

static void a_stream_waits_for_the_record_of_the_launch_before(void)
{
	CUdeviceptr list = words(), seen = words();
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);

	OK(cuEventRecord(event, other));
	graph_that_records(list, event);
	hold(stream);
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamWaitEvent(other, event, 0));
	OK(cuMemcpyDtoDAsync(seen, list, 8, other));
	EXPECT(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	release();
	finish(other);
	TRUE(word(seen, 0) >= 1 && word(seen, 1) == 1);
	finish(stream);
}

/* The end of a branch can be waited for while another branch of the same launch still runs. */
static void a_branch_is_waited_for_alone(void)
{
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);
	CUstream third = blocking_stream();
	CUdeviceptr list = words();

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	fork_to(other);
	OK(append(list, 1, other));
	OK(cuEventRecordWithFlags(event, other, CU_EVENT_RECORD_EXTERNAL));
	hold(stream);
	join_from(other);
	capture_end();
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamWaitEvent(third, event, 0));
	OK(append(list, 2, third));
	finish(third); /* would never end if it waited for the whole graph */
	EXPECT(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	release();
	finish(stream);
	is_list(list, 2);
}

static void time_passes_between_records_of_a_graph(void)
{
	CUevent first = event_new(0), second = event_new(0);
	float ms = -1;

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuEventRecordWithFlags(first, stream, CU_EVENT_RECORD_EXTERNAL));
	OK(launch("nothing", stream, NULL));
	OK(cuEventRecordWithFlags(second, stream, CU_EVENT_RECORD_EXTERNAL));
	capture_end();
	run_graph();
	OK(cuEventElapsedTime(&ms, first, second));
	TRUE(ms >= 0 && ms < 10000);
	OK(cuEventRecord(first, stream)); /* and against one that no graph recorded */
	finish(stream);
	OK(cuEventElapsedTime(&ms, second, first));
	TRUE(ms >= 0 && ms < 10000);
}

static void records_stay_where_they_are_in_an_update(void)
{
	CUdeviceptr list = words(), other_list = words();
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);
	CUgraphExecUpdateResultInfo info;
	CUgraph first;

	graph_that_records(list, event);
	first = graph;
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(append(other_list, 1, stream));
	OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
	OK(append(other_list, 2, stream));
	capture_end();
	OK(cuGraphExecUpdate(exec, graph, &info));
	OK(cuGraphDestroy(first));
	hold(stream);
	OK(cuGraphLaunch(exec, stream));
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	release();
	finish(stream);
	OK(cuEventQuery(event));
	is_list(other_list, 2);
	is_list(list, 0);
}

/* The record of the last launch counts, though the one before it has come first. */
static void two_graphs_in_flight_record_one_event(void)
{
	CUdeviceptr list = words();
	CUevent event = event_new(CU_EVENT_DISABLE_TIMING);
	CUgraphExec second;

	graph_that_records(list, event);
	OK(cuGraphInstantiateWithFlags(&second, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	hold(stream);
	OK(cuGraphLaunch(second, stream));
	EXPECT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	OK(cuStreamWaitEvent(other, event, 0));
	EXPECT(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	release();
	finish(other);
	EQUAL(word(list, 0) >= 3, 1);
	finish(stream);
	OK(cuGraphExecDestroy(second));
}

/* As any record that is under way: what waits for it waits all the same. */
static void an_event_is_destroyed_while_a_graph_records_it(void)
{
	CUdeviceptr list = words();
	CUevent event;

	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	graph_that_records(list, event);
	hold(stream);
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamWaitEvent(other, event, 0));
	OK(cuEventDestroy(event));
	EXPECT(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	release();
	finish(other);
	finish(stream);
	is_list(list, 2);
}

#define CROSS "Programming Guide, CUDA Graphs, Cross-stream Dependencies and Events"
#define RECORDS "Graph Management: cuGraphAddEventRecordNode"
#define PROHIBITED "Programming Guide, CUDA Graphs, Prohibited and Unhandled Operations"

const struct check fork_checks[] = {
	CHECK(a_fork_and_a_join_become_edges, CROSS),
	CHECK(events_are_not_nodes, CROSS),
	CHECK(work_not_joined_is_an_error, CROSS),
	CHECK(a_capture_ends_where_it_began, CROSS),
	CHECK(an_event_from_outside_is_isolated, PROHIBITED),
	CHECK(two_captures_do_not_merge, PROHIBITED),
	CHECK(a_captured_event_is_not_queried, PROHIBITED),
	CHECK(a_captured_event_is_not_waited_for, PROHIBITED),
	CHECK(an_event_of_an_ended_capture_is_refused,
          MEASURED("Data types: CUresult, CUDA_ERROR_CAPTURED_EVENT", "that error")),
	CHECK(external_records_and_waits_are_nodes, "Event Management: cuEventRecordWithFlags"),
	CHECK(a_graph_records_when_it_comes_there, RECORDS),
	CHECK(a_stream_waits_for_the_record_of_the_launch_before, RECORDS),
	CHECK(a_branch_is_waited_for_alone, RECORDS),
	CHECK(time_passes_between_records_of_a_graph, RECORDS),
	CHECK(records_stay_where_they_are_in_an_update, "Graph Management: cuGraphExecUpdate"),
	CHECK(two_graphs_in_flight_record_one_event, "Event Management: cuEventRecord"),
	CHECK(an_event_is_destroyed_while_a_graph_records_it, "Event Management: cuEventDestroy"),
	CHECKS_END,
};
