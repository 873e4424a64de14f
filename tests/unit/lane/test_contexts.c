/* What Reprise does on a thread of the program's, it does in the lane's context, and the thread's
 * own stays current: another one, or none. */
#include "../../suite.h"
#include "driver/driver.h"
#include "lane/ended_events.h"
#include "lane/group/group.h"
#include "lane/hold.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "lane/traces.h"
#include "program.h"

#define FORK "a >e 2:<e 2:b 2:>f c <f d"
#define GRAPH "[a >e b >f c d >_]"

/* ---- what Reprise asks of the driver, and in which context ---- */

static __typeof__(reprise_driver) real;
static CUcontext lanes_context;
static unsigned int asked;

static void is_in_context(void)
{
	ck_assert_ptr_eq(driver.current, lanes_context);
	asked++;
}

static CUresult CUDAAPI launch_kernel(CUfunction function, unsigned int x, unsigned int y,
                                      unsigned int z, unsigned int block_x, unsigned int block_y,
                                      unsigned int block_z, unsigned int shared, CUstream stream,
                                      void **params, void **extra)
{
	is_in_context();
	return real.cuLaunchKernel(function, x, y, z, block_x, block_y, block_z, shared, stream, params,
	                           extra);
}

static CUresult CUDAAPI launch_graph(CUgraphExec graph, CUstream stream)
{
	is_in_context();
	return real.cuGraphLaunch(graph, stream);
}

static CUresult CUDAAPI destroy_event(CUevent event)
{
	is_in_context();
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_stream(CUstream stream)
{
	is_in_context();
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI query_event(CUevent event)
{
	return CUDA_SUCCESS;
}

static void look_at_driver(void)
{
	real = reprise_driver;
	lanes_context = lane_of(1)->context;
	reprise_driver.cuLaunchKernel = launch_kernel;
	reprise_driver.cuGraphLaunch = launch_graph;
	reprise_driver.cuEventDestroy_v2 = destroy_event;
	reprise_driver.cuStreamDestroy_v2 = destroy_stream;
	reprise_driver.cuEventQuery = query_event;
}

/* ---- what is prepared, and what Reprise then does ---- */

static struct reprise_lane *lane;

static void defer(void)
{
	learns("a b c d |", "[a b c d]");
	calls("a b");
}

static void leave_pending(void)
{
	static const char *const options[] = {"REPRISE_SUBMIT=always", NULL};

	program_begins_with(options);
	learns("a b c d |", "[a b c d]");
	calls("a b c d");
}

static void make_group(void)
{
	learns(FORK " |", GRAPH);
}

static void end_event(void)
{
	struct reprise_ended *noted;
	CUresult result;

	make_group();
	reprise_driver.cuEventQuery = query_event;
	ck_assert(reprise_ended_note(driver_event('e'), &result, &noted));
	ck_assert(reprise_ended_is_kept(noted));
}

static void split_group(void)
{
	make_group();
	reprise_group_split(lane_of(1), false);
}

static void barrier(void)
{
	reprise_lanes_barrier(false);
}

static void hold_limit(void)
{
	time_passes(250000);
}

static void want(void)
{
	reprise_hold_want(lane);
	time_passes(1000);
}

static void close_streams(void)
{
	struct reprise_capture_streams streams = reprise_lane_take_capture_streams(lane);

	reprise_lane_close(&streams);
}

static void split(void)
{
	reprise_group_split(lane, false);
}

static void destroy_spares(void)
{
	reprise_group_destroy_spares(lanes_context);
}

static void forget(void)
{
	reprise_lock_take(&lane->lock);
	reprise_lane_forget(lane);
	reprise_lock_give(&lane->lock);
}

static const struct {
	void (*prepare)(void), (*act)(void);
} cases[] = {
	{defer, barrier},         {defer, hold_limit},           {defer, want},
	{leave_pending, barrier}, {leave_pending, hold_limit},   {leave_pending, launch_thread_looks},
	{make_group, split},      {split_group, destroy_spares}, {end_event, barrier},
	{make_group, forget},     {make_group, close_streams},
};

#define CASES (int)(sizeof(cases) / sizeof(cases[0]))

START_TEST(what_is_done_is_done_in_the_lanes_context_and_the_threads_stays_current)
{
	CUcontext current = (CUcontext)(uintptr_t)(_i < CASES ? 0x77 : 0);

	cases[_i % CASES].prepare();
	lane = reprise_lane_head(lane_of(1));
	look_at_driver();
	driver.current = current;
	cases[_i % CASES].act();
	ck_assert_ptr_eq(driver.current, current);
	ck_assert(asked > 0 || cases[_i % CASES].act == forget); /* its graphs go later */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, contexts");
	TCase *tests = tcase_create("contexts");

	tcase_add_checked_fixture(tests, program_begins, NULL);
	tcase_add_loop_test(tests,
	                    what_is_done_is_done_in_the_lanes_context_and_the_threads_stays_current, 0,
	                    2 * CASES);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
