/* Graphs that are built: whichever call of the driver fails leaves nothing behind, the ops stay
 * eager, and the graph is built another time. */
#include <string.h>

#include "../../suite.h"
#include "base/clock.h"
#include "base/store.h"
#include "driver/driver.h"
#include "graph/build_queue.h"
#include "graph/building.h"
#include "graph/capture_lock.h"
#include "graph/make.h"
#include "graph/neighbours.h"
#include "program.h"
#include "workers/workers.h"
#include "../../virtual/threads.h"

#define CONTEXT ((CUcontext)1)

/* ---- a driver that counts what is left, and fails ---- */

static int graphs_left, executables_left;
static unsigned long long flags; /* of the last instantiation */
static const char *fails;        /* this call does */

#define REAL(name) static __typeof__(reprise_driver.name) real_##name

REAL(cuStreamBeginCapture_v2);
REAL(cuStreamEndCapture);
REAL(cuGraphInstantiateWithFlags);
REAL(cuGraphUpload);
REAL(cuGraphGetNodes);
REAL(cuGraphDestroy);
REAL(cuGraphExecDestroy);
REAL(cuStreamCreateWithPriority);
REAL(cuLaunchKernel);

static bool is_failing(const char *name)
{
	return fails != NULL && strcmp(fails, name) == 0;
}

static CUresult CUDAAPI begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
	return is_failing("begin") ? CUDA_ERROR_UNKNOWN : real_cuStreamBeginCapture_v2(stream, mode);
}

static CUresult CUDAAPI end_capture(CUstream stream, CUgraph *graph)
{
	CUresult result = real_cuStreamEndCapture(stream, graph);

	graphs_left += result == CUDA_SUCCESS;
	if (is_failing("end")) {
		real_cuGraphDestroy(*graph);
		graphs_left--;
		*graph = NULL;
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	return result;
}

static CUresult CUDAAPI instantiate(CUgraphExec *executable, CUgraph graph, unsigned long long with)
{
	flags = with;
	if (is_failing("instantiate"))
		return CUDA_ERROR_OUT_OF_MEMORY;
	executables_left++;
	return real_cuGraphInstantiateWithFlags(executable, graph, with);
}

static CUresult CUDAAPI upload(CUgraphExec executable, CUstream stream)
{
	return is_failing("upload") ? CUDA_ERROR_OUT_OF_MEMORY : real_cuGraphUpload(executable, stream);
}

static CUresult CUDAAPI get_nodes(CUgraph of, CUgraphNode *nodes, size_t *count)
{
	CUresult result = real_cuGraphGetNodes(of, nodes, count);

	*count += is_failing("count");
	return is_failing("nodes") ? CUDA_ERROR_UNKNOWN : result;
}

static CUresult CUDAAPI destroy_graph(CUgraph graph)
{
	graphs_left--;
	return real_cuGraphDestroy(graph);
}

static CUresult CUDAAPI destroy_executable(CUgraphExec executable)
{
	executables_left--;
	return real_cuGraphExecDestroy(executable);
}

static CUresult CUDAAPI create_stream(CUstream *stream, unsigned int with, int priority)
{
	return is_failing("stream") ? CUDA_ERROR_OUT_OF_MEMORY
	                            : real_cuStreamCreateWithPriority(stream, with, priority);
}

static CUresult CUDAAPI launch(CUfunction function, unsigned int x, unsigned int y, unsigned int z,
                               unsigned int block_x, unsigned int block_y, unsigned int block_z,
                               unsigned int bytes, CUstream stream, void **params, void **extra)
{
	return is_failing("op") && (uintptr_t)stream >= 0x2000
	           ? CUDA_ERROR_INVALID_VALUE
	           : real_cuLaunchKernel(function, x, y, z, block_x, block_y, block_z, bytes, stream,
	                                 params, extra);
}

#define REPLACE(name, with) \
	do { \
		real_##name = reprise_driver.name; \
		reprise_driver.name = with; \
	} while (0)

/* A graph of "a b c d" waits to be built. */
static struct reprise_graph *graph;

static void setup(void)
{
	program_begins();
	REPLACE(cuStreamBeginCapture_v2, begin_capture);
	REPLACE(cuStreamEndCapture, end_capture);
	REPLACE(cuGraphInstantiateWithFlags, instantiate);
	REPLACE(cuGraphUpload, upload);
	REPLACE(cuGraphGetNodes, get_nodes);
	REPLACE(cuGraphDestroy, destroy_graph);
	REPLACE(cuGraphExecDestroy, destroy_executable);
	REPLACE(cuStreamCreateWithPriority, create_stream);
	REPLACE(cuLaunchKernel, launch);
	for (unsigned int visit = 0; visit < 10 && graph == NULL; visit++) {
		calls("a b c d |");
		graph = reprise_build_queue_take();
	}
	ck_assert_ptr_nonnull(graph);
}

static enum reprise_graph_state made(void)
{
	enum reprise_graph_state state = reprise_make(graph);

	return state == REPRISE_GRAPH_READY ? reprise_make_ready(graph) : state;
}

static const struct {
	const char *fails;
	enum reprise_counter counter;
} failures[] = {
	{"begin", REPRISE_COUNT_build_failed_capture},
	{"op", REPRISE_COUNT_build_failed_capture},
	{"end", REPRISE_COUNT_build_failed_capture},
	{"nodes", REPRISE_COUNT_build_failed_capture},
	{"count", REPRISE_COUNT_build_failed_capture},
	{"instantiate", REPRISE_COUNT_build_failed_instantiate},
	{"upload", REPRISE_COUNT_build_failed_instantiate},
	{"stream", REPRISE_COUNT_private_streams_failed},
};

START_TEST(a_failed_build_leaves_nothing_behind_and_is_made_good)
{
	fails = failures[_i].fails;
	for (unsigned int i = 1; i <= 3; i++) {
		ck_assert_int_eq(made(), REPRISE_GRAPH_FAILED);
		ck_assert_uint_eq(count_of(failures[_i].counter), i);
		ck_assert_int_eq(graphs_left, 0);
		reprise_context_sync_begin(CONTEXT); /* waits for ever where a capture counts as open */
		reprise_context_sync_end(CONTEXT);
		ck_assert_int_eq(executables_left, 0);
		ck_assert_ptr_null(graph->graph);
		ck_assert_ptr_null(graph->executable);
		ck_assert_ptr_null(graph->reclaim);
	}
	ck_assert_uint_eq(count_of(REPRISE_COUNT_graphs_built), 0);
	fails = NULL;
	ck_assert_int_eq(made(), REPRISE_GRAPH_READY);
	ck_assert_int_eq(graphs_left, 1);
	ck_assert_int_eq(executables_left, 1);
}
END_TEST

START_TEST(a_build_counts_its_nodes_and_takes_no_flags)
{
	ck_assert_int_eq(made(), REPRISE_GRAPH_READY);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_graphs_built), 1);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_graph_nodes), 4);
	ck_assert_uint_eq(flags, 0);
	ck_assert_uint_ne(graph->number, 0);
	ck_assert(!graph->mixed);
	ck_assert_ptr_nonnull(graph->reclaim);
}
END_TEST

/* Any of the ops may have one. */
START_TEST(nodes_with_a_priority_keep_it)
{
	CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
	struct reprise_op *ops = (struct reprise_op *)(uintptr_t)graph->ops;

	ops[_i].kernel.attribute_count = 1;
	ops[_i].payload = (unsigned char *)&priority;
	ck_assert_int_eq(reprise_make(graph), REPRISE_GRAPH_READY);
	ck_assert_uint_eq(flags, 0);
	priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
	graph->graph = NULL;
	ck_assert_int_eq(reprise_make(graph), REPRISE_GRAPH_READY);
	ck_assert_uint_eq(flags, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
}
END_TEST

/* A graph of one op is of use in a context alone on its device. */
START_TEST(a_graph_of_one_op_is_not_built_beside_another_context)
{
	unsigned int count = graph->count;

	graph->count = 1;
	reprise_neighbours_begin(0); /* one is being made */
	ck_assert_int_eq(made(), REPRISE_GRAPH_FAILED);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_build_failed_neighbours), 1);
	graph->count = count;
	ck_assert_int_eq(made(), REPRISE_GRAPH_READY);
}
END_TEST

START_TEST(each_graph_has_a_number_of_its_own_for_good)
{
	uint32_t number;

	fails = "upload";
	made();
	number = graph->number;
	ck_assert_uint_ne(number, 0);
	fails = NULL;
	made();
	ck_assert_uint_eq(graph->number, number);
}
END_TEST

/* ---- graphs that are given up ---- */

START_TEST(what_is_given_up_is_destroyed_by_the_builder)
{
	ck_assert_int_eq(made(), REPRISE_GRAPH_READY);
	reprise_graph_retire(graph);
	ck_assert_ptr_null(graph->executable);
	ck_assert_ptr_null(graph->graph);
	ck_assert_int_eq(atomic_load(&graph->state), REPRISE_GRAPH_EMPTY);
	ck_assert_int_eq(executables_left, 1);
	reprise_graph_retire(graph); /* there is nothing more of it */
	ck_assert_uint_eq(reprise_reclaim_sweep(0), 0);
	ck_assert_uint_eq(reprise_reclaim_sweep(5), 1);
	ck_assert_int_eq(executables_left, 0);
	ck_assert_int_eq(graphs_left, 0);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_graphs_destroyed), 1);
	ck_assert_uint_eq(reprise_reclaim_sweep(5), 0);
}
END_TEST

START_TEST(what_is_given_up_is_taken_by_its_context)
{
	struct reprise_reclaim_entry *taken;

	ck_assert_int_eq(made(), REPRISE_GRAPH_READY);
	reprise_graph_retire(graph);
	ck_assert_ptr_null(reprise_reclaim_take((CUcontext)2));
	taken = reprise_reclaim_take(CONTEXT);
	ck_assert_ptr_nonnull(taken);
	ck_assert_uint_eq(reprise_reclaim_sweep(5), 0);
	driver.current = (CUcontext)2;
	reprise_reclaim_destroy(taken);
	ck_assert_ptr_eq(driver.current, (CUcontext)2);
	ck_assert_int_eq(executables_left, 0);
	ck_assert_int_eq(graphs_left, 0);
}
END_TEST

START_TEST(with_its_context_it_is_lost)
{
	ck_assert_int_eq(made(), REPRISE_GRAPH_READY);
	reprise_graph_retire(graph);
	reprise_reclaim_lose((CUcontext)2);
	reprise_reclaim_lose(CONTEXT);
	ck_assert_uint_eq(reprise_reclaim_sweep(5), 0);
	ck_assert_int_eq(executables_left, 1); /* the driver has ended it */
	ck_assert_uint_eq(count_of(REPRISE_COUNT_graphs_destroyed), 0);
}
END_TEST

/* It has nothing to build. */
START_TEST(the_builder_makes_ahead_what_a_lane_is_watched_with)
{
	const uint64_t used = reprise_store_used();

	reprise_builder_define();
	thread_runs(&reprise_builder, 1000);
	ck_assert_uint_gt(reprise_store_used(),
	                  used + 300000); /* a watch, and nothing else is so large */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, build");
	TCase *tests = tcase_create("build");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, a_failed_build_leaves_nothing_behind_and_is_made_good, 0,
	                    sizeof(failures) / sizeof(failures[0]));
	tcase_add_test(tests, a_build_counts_its_nodes_and_takes_no_flags);
	tcase_add_loop_test(tests, nodes_with_a_priority_keep_it, 0, 4);
	tcase_add_test(tests, a_graph_of_one_op_is_not_built_beside_another_context);
	tcase_add_test(tests, each_graph_has_a_number_of_its_own_for_good);
	tcase_add_test(tests, what_is_given_up_is_destroyed_by_the_builder);
	tcase_add_test(tests, what_is_given_up_is_taken_by_its_context);
	tcase_add_test(tests, with_its_context_it_is_lost);
	tcase_add_test(tests, the_builder_makes_ahead_what_a_lane_is_watched_with);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
