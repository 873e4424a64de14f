/*
 * Which calls return while a host function runs: one that wants a mutex, say, whose holder
 * launches. If a call waits for it, and keeps launches of other threads waiting meanwhile, both
 * wait for ever.
 */
#include "waits.h"

enum { TIMES = 100, TURNS = 56 };

static CUgraph again; /* of kernels alone */
static CUgraphExec again_exec;
static CUgraphNode host_node; /* the one of `graph` */
static CUevent marked;

static void CUDA_CB nothing_to_do(void *unused)
{
	(void)unused;
}

static void CUDA_CB nothing_called_back(CUstream of, CUresult result, void *unused)
{
	(void)of;
	(void)result;
	(void)unused;
}

/* ---- what runs ---- */

static void hold_by_function(CUstream on)
{
	keep_from_release();
	OK(launch("nothing", on, NULL));
	OK(cuLaunchHostFunc(on, wait_for_release, NULL));
}

static void CUDA_CB wait_called_back(CUstream of, CUresult result, void *unused)
{
	(void)of;
	(void)result;
	wait_for_release(unused);
}

static void hold_by_callback(CUstream on)
{
	keep_from_release();
	OK(launch("nothing", on, NULL));
	OK(cuStreamAddCallback(on, wait_called_back, NULL, 0));
}

static void hold_by_graph(CUstream on)
{
	keep_from_release();
	OK(cuGraphLaunch(exec, on));
}

/* `graph` has a kernel, the function and a kernel; `again` kernels alone. */
static void make_graphs(CUhostFn called)
{
	CUgraphNode all[3];

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(launch("nothing", stream, NULL));
	OK(cuLaunchHostFunc(stream, called, NULL));
	OK(launch("nothing", stream, NULL));
	capture_end();
	EQUAL(nodes(graph, all, 3), 3);
	for (unsigned i = 0; i < 3; i++)
		if (type_of(all[i]) == CU_GRAPH_NODE_TYPE_HOST)
			host_node = all[i];
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	for (unsigned i = 0; i < 10; i++)
		OK(launch("nothing", stream, NULL));
	OK(cuStreamEndCapture(stream, &again));
	OK(cuGraphInstantiate(&again_exec, again, 0));
}

static void give_back(void)
{
	OK(cuGraphExecDestroy(again_exec));
	OK(cuGraphDestroy(again));
}

/* ---- what is called ---- */

static void launch_kernels(void)
{
	for (unsigned i = 0; i < TIMES; i++)
		OK(launch("nothing", other, NULL));
}

static void launch_kernels_behind(void)
{
	for (unsigned i = 0; i < TIMES; i++)
		OK(launch("nothing", stream, NULL));
}

static void launch_functions(void)
{
	for (unsigned i = 0; i < TIMES; i++)
		OK(cuLaunchHostFunc(other, nothing_to_do, NULL));
}

static void launch_functions_behind(void)
{
	for (unsigned i = 0; i < TIMES; i++)
		OK(cuLaunchHostFunc(stream, nothing_to_do, NULL));
}

static void launch_kernels_graph(void)
{
	for (unsigned i = 0; i < TIMES; i++)
		OK(cuGraphLaunch(again_exec, other));
}

static void launch_kernels_graph_behind(void)
{
	for (unsigned i = 0; i < TIMES; i++)
		OK(cuGraphLaunch(again_exec, stream));
}

static void launch_graph(void)
{
	OK(cuGraphLaunch(exec, other));
}

static void launch_graph_behind(void)
{
	OK(cuGraphLaunch(exec, stream));
}

static void launch_graph_behind_many_times(void)
{
	for (unsigned i = 0; i < TIMES; i++)
		OK(cuGraphLaunch(exec, stream));
}

static void launch_kernels_as_graphs(void)
{
	for (unsigned i = 0; i < 5000; i++)
		OK(cuGraphLaunch(again_exec, stream));
}

static void give_node_another_function(void)
{
	OK(cuGraphExecHostNodeSetParams(exec, host_node,
	                                &(CUDA_HOST_NODE_PARAMS){nothing_to_do, NULL}));
}

static void change_and_launch(void)
{
	give_node_another_function();
	launch_graph_behind();
}

static void update_graph(void)
{
	CUgraphExecUpdateResultInfo info;

	OK(cuGraphExecUpdate(exec, graph, &info));
}

static void upload_graph(void)
{
	OK(cuGraphUpload(exec, other));
}

static void destroy_graph(void)
{
	OK(cuGraphExecDestroy(exec));
	exec = NULL;
}

static void capture_a_function(void)
{
	CUgraph captured;

	OK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuLaunchHostFunc(other, nothing_to_do, NULL));
	OK(cuStreamEndCapture(other, &captured));
	OK(cuGraphDestroy(captured));
}

static void record_event(void)
{
	OK(cuEventRecord(marked, other));
}

static void mark_the_context(void)
{
	OK(cuCtxRecordEvent(context, marked));
	EXPECT(cuEventQuery(marked), CUDA_ERROR_NOT_READY);
	sleep_ms(20);
	EXPECT(cuEventQuery(marked), CUDA_ERROR_NOT_READY);
}

/* ---- the checks ---- */

#define RETURNS(holds, call) expect_return((holds), (call), #call)
#define WAITS(holds, call) expect_wait((holds), (call), #call, false)
#define WAITS_WITH_LAUNCHES(holds, call) expect_wait((holds), (call), #call, true)

static void calls_return(void (*holds)(CUstream))
{
	marked = event_new(CU_EVENT_DISABLE_TIMING);
	RETURNS(holds, launch_kernels);
	RETURNS(holds, launch_kernels_behind);
	RETURNS(holds, launch_functions);
	RETURNS(holds, launch_functions_behind);
	RETURNS(holds, launch_kernels_graph);
	RETURNS(holds, launch_kernels_graph_behind);
	RETURNS(holds, capture_a_function);
	RETURNS(holds, record_event);
	RETURNS(holds, mark_the_context);
}

static void calls_return_beside_a_host_function(void)
{
	make_graphs(nothing_to_do);
	calls_return(hold_by_function);
	RETURNS(hold_by_function, launch_graph);
	give_back();
}

static void calls_return_beside_a_callback(void)
{
	make_graphs(nothing_to_do);
	calls_return(hold_by_callback);
	RETURNS(hold_by_callback, launch_graph);
	give_back();
}

static void calls_return_beside_a_host_node(void)
{
	make_graphs(wait_for_release);
	calls_return(hold_by_graph);
	give_back();
}

static void a_graph_is_launched_behind_its_host_node(void)
{
	make_graphs(wait_for_release);
	RETURNS(hold_by_graph, launch_graph_behind);
	RETURNS(hold_by_graph, launch_graph);
	give_back();
}

static void a_host_node_that_runs_takes_another_function(void)
{
	make_graphs(wait_for_release);
	RETURNS(hold_by_graph, give_node_another_function);
	RETURNS(hold_by_graph, change_and_launch);
	give_back();
}

static void a_graph_whose_host_node_runs_is_updated(void)
{
	make_graphs(wait_for_release);
	RETURNS(hold_by_graph, update_graph);
	RETURNS(hold_by_graph, upload_graph);
	give_back();
}

static void a_graph_whose_host_node_runs_is_destroyed(void)
{
	make_graphs(wait_for_release);
	RETURNS(hold_by_graph, destroy_graph);
	give_back();
}

/* ---- turns from the host to the device that are pending ---- */

static void turn_by_function(void)
{
	OK(cuLaunchHostFunc(stream, nothing_to_do, NULL));
	OK(launch("nothing", stream, NULL));
}

static void turn_by_callback(void)
{
	OK(cuStreamAddCallback(stream, nothing_called_back, NULL, 0));
	OK(launch("nothing", stream, NULL));
}

static void turn_many_times(void)
{
	for (unsigned i = 0; i < TIMES; i++)
		turn_by_function();
}

static void a_stream_has_room_for_turns(void)
{
	EQUAL(pending_at_wait(hold_by_function, turn_by_function), TURNS);
	EQUAL(pending_at_wait(hold_by_function, turn_by_callback), TURNS);
	make_graphs(nothing_to_do);
	EQUAL(pending_at_wait(hold_by_function, launch_graph_behind),
	      (TURNS - 1) / 2); /* two turns each, and one before the first */
	give_back();
}

static void a_launch_that_finds_no_room_for_a_turn_waits_alone(void)
{
	WAITS(hold_by_function, turn_many_times);
}

static void a_graph_that_finds_no_room_for_a_turn_keeps_others_out(void)
{
	make_graphs(nothing_to_do);
	WAITS_WITH_LAUNCHES(hold_by_function, launch_graph_behind_many_times);
	give_back();
}

/* Room for launches, that is, of which there is more. */
static void a_graph_that_finds_no_room_behind_a_host_function_waits_alone(void)
{
	make_graphs(nothing_to_do);
	WAITS(hold_by_function, launch_kernels_as_graphs);
	give_back();
}

#define SOURCE \
	MEASURED("Execution Control, cuLaunchHostFunc", \
	         "what waits for a host function that runs is not said")

const struct check host_checks[] = {
	CHECK_ALONE(calls_return_beside_a_host_function, SOURCE, 0),
	CHECK_ALONE(calls_return_beside_a_callback, SOURCE, 0),
	CHECK_ALONE(calls_return_beside_a_host_node, SOURCE, 0),
	CHECK_ALONE(a_graph_is_launched_behind_its_host_node, SOURCE, 0),
	CHECK_ALONE(a_host_node_that_runs_takes_another_function, SOURCE, 0),
	CHECK_ALONE(a_graph_whose_host_node_runs_is_updated, SOURCE, 0),
	CHECK_ALONE(a_graph_whose_host_node_runs_is_destroyed, SOURCE, 0),
	CHECK_ALONE(a_stream_has_room_for_turns, SOURCE, 0),
	CHECK_ALONE(a_launch_that_finds_no_room_for_a_turn_waits_alone, SOURCE, 0),
	CHECK_ALONE(a_graph_that_finds_no_room_for_a_turn_keeps_others_out, SOURCE, 0),
	CHECK_ALONE(a_graph_that_finds_no_room_behind_a_host_function_waits_alone, SOURCE, 0),
	CHECKS_END,
};
