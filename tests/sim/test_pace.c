/* A GPU that takes its time: who is told so, and how long it is. */
#include "sim_test.h"

#include <time.h>

/* What begin() asks for. */
#define START_NS 500000
#define LAUNCH_NS 2000000
#define NODE_NS 1000000

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static CUdeviceptr list;
static uint64_t begun;

static void give(unsigned int launches)
{
	begun = now();
	for (unsigned int i = 1; i <= launches; i++)
		CU(append(list, i, stream));
}

static uint64_t took(void)
{
	return now() - begun;
}

static void begin(void)
{
	setenv("SIM_PACE", "500000:2000000:1000000", 1);
	start();
	list = words();
}

START_TEST(a_wait_takes_as_long_as_the_gpu_does)
{
	begin();
	give(5);
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_ge(took(), START_NS + 5 * LAUNCH_NS);
	assert_list(list, 5);
	give(2);
	CU(cuCtxSynchronize());
	ck_assert_uint_ge(took(), START_NS + 2 * LAUNCH_NS);
}
END_TEST

START_TEST(a_query_says_whether_it_has_done_all)
{
	begin();
	give(10);
	ck_assert_int_eq(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
		continue;
	ck_assert_uint_ge(took(), START_NS + 10 * LAUNCH_NS);
	CU(cuStreamQuery(stream));
}
END_TEST

START_TEST(an_event_comes_where_it_was_recorded)
{
	CUevent event;
	uint64_t reached;

	begin();
	CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	give(4);
	CU(cuEventRecord(event, stream));
	for (unsigned int i = 0; i < 20; i++)
		CU(append(list, i, stream));
	ck_assert_int_eq(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	CU(cuEventSynchronize(event));
	reached = took();
	CU(cuEventQuery(event));
	ck_assert_int_eq(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	ck_assert_uint_ge(reached, START_NS + 4 * LAUNCH_NS);
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_ge(took(), reached + 16 * LAUNCH_NS);
}
END_TEST

START_TEST(a_copy_to_the_host_waits)
{
	uint32_t word;

	begin();
	give(3);
	CU(cuMemcpyDtoH(&word, list, sizeof(word)));
	ck_assert_uint_ge(took(), START_NS + 3 * LAUNCH_NS);
}
END_TEST

START_TEST(kernels_of_a_graph_take_it_less)
{
	CUgraph graph;
	CUgraphExec exec;

	begin();
	CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	give(40);
	CU(cuStreamEndCapture(stream, &graph));
	CU(cuGraphInstantiate(&exec, graph, 0));
	CU(cuStreamQuery(stream)); /* what is captured is not given */
	begun = now();
	CU(cuGraphLaunch(exec, stream));
	CU(cuStreamSynchronize(stream));
	ck_assert_uint_ge(took(), START_NS + 40 * NODE_NS);
	ck_assert_uint_lt(took(), 40 * LAUNCH_NS);
}
END_TEST

RUN("pace", a_wait_takes_as_long_as_the_gpu_does, a_query_says_whether_it_has_done_all,
    an_event_comes_where_it_was_recorded, a_copy_to_the_host_waits, kernels_of_a_graph_take_it_less)
