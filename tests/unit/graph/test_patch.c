/* Which means patching takes, what it costs, and what is left when the driver refuses. */
#include "../../suite.h"
#include "driver/driver.h"
#include "graph/cost.h"
#include "stats/counters.h"
#include "../trace/ops.h"

enum { NODES = 8 };

static struct reprise_capture_streams capture_streams;
static struct reprise_trace *trace;

/* ---- the driver ---- */

static struct {
	unsigned int set, updated, captured;
	unsigned int fails_at; /* the set of this number fails; from 1 on, 0: none */
	bool set_always_fails;
	CUgraphExecUpdateResult refuses;
} driver;

static CUresult CUDAAPI describe(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
	*params = (CUDA_MEMSET_NODE_PARAMS){0};
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set(CUgraphExec executable, CUgraphNode node,
                            const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
	return ++driver.set == driver.fails_at || driver.set_always_fails ? CUDA_ERROR_INVALID_VALUE
	                                                                  : CUDA_SUCCESS;
}

static CUresult CUDAAPI exchange(CUstreamCaptureMode *mode)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI begin(CUstream stream, CUstreamCaptureMode mode)
{
	driver.captured = 0;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI issue(CUdeviceptr target, unsigned int value, size_t count, CUstream stream)
{
	driver.captured++;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI issue_rows(CUdeviceptr target, size_t pitch, unsigned int value,
                                   size_t width, size_t height, CUstream stream)
{
	return issue(target, value, width, stream);
}

static CUresult CUDAAPI end(CUstream stream, CUgraph *graph)
{
	*graph = (CUgraph)1;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI count_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	*count = driver.captured;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy(CUgraph graph)
{
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI update(CUgraphExec executable, CUgraph graph,
                               CUgraphExecUpdateResultInfo *info)
{
	driver.updated++;
	info->result = driver.refuses;
	return driver.refuses == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
	                                                      : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

/* ---- a graph of NODES memsets ---- */

static void setup(void)
{
	static const bool any_value[NODES];
	const struct reprise_position position = {0};
	struct reprise_op ops[NODES];

	memset(&driver, 0, sizeof(driver));
	reprise_driver.cuGraphMemsetNodeGetParams = describe;
	reprise_driver.cuGraphExecMemsetNodeSetParams = set;
	reprise_driver.cuThreadExchangeStreamCaptureMode = exchange;
	reprise_driver.cuStreamBeginCapture_v2 = begin;
	reprise_driver.cuMemsetD32Async = issue;
	reprise_driver.cuMemsetD2D32Async = issue_rows;
	reprise_driver.cuStreamEndCapture = end;
	reprise_driver.cuGraphGetNodes = count_nodes;
	reprise_driver.cuGraphDestroy = destroy;
	reprise_driver.cuGraphExecUpdate_v2 = update;
	capture_streams.streams[REPRISE_FOR_PATCHING] = (CUstream)1;
	for (unsigned int i = 0; i < NODES; i++)
		ops[i] = op_of(i, 0);
	trace = reprise_trace_new(ops, any_value, NODES, &position, &capture_streams);
	ck_assert_ptr_nonnull(trace);
	for (unsigned int i = 0; i < NODES; i++)
		trace->graph.nodes[i] =
			(struct reprise_graph_node){.node = (CUgraphNode)(uintptr_t)(i + 1), .settable = true};
}

static void teardown(void)
{
	reprise_trace_free(trace);
}

/* A patch in which ops `first` to `last` have other values, after which they are as they were. */
static enum reprise_patch patch(unsigned int first, unsigned int last)
{
	enum reprise_patch patched;

	for (unsigned int i = first; i <= last; i++) {
		struct reprise_op op = op_of(i, 1);

		reprise_trace_copy_values(trace, i, &op);
	}
	patched = reprise_graph_patch(&trace->graph, trace->incoming, trace->changed);
	reprise_trace_end_visit(trace, false);
	return patched;
}

static void costs_are(uint64_t node_set, uint64_t capture, uint64_t update_ns)
{
	atomic_store(&reprise_cost_estimates[REPRISE_COST_node_set], node_set * 1000);
	atomic_store(&reprise_cost_estimates[REPRISE_COST_capture], capture * 1000);
	atomic_store(&reprise_cost_estimates[REPRISE_COST_update], update_ns * 1000);
}

/* ---- which means ---- */

START_TEST(the_cheaper_means_is_taken)
{
	costs_are(600, 620, 55);
	ck_assert_int_eq(patch(2, 4), REPRISE_PATCH_DONE);
	ck_assert_uint_eq(driver.set, 3);
	ck_assert_uint_eq(driver.updated, 0);
	costs_are(60000, 620, 55);
	ck_assert_int_eq(patch(2, 4), REPRISE_PATCH_DONE);
	ck_assert_uint_eq(driver.set, 3);
	ck_assert_uint_eq(driver.updated, 1);
	ck_assert_uint_eq(driver.captured, NODES);
}
END_TEST

/* How often the whole graph is updated in 4096 patches of one node, if that looks as dear. */
static unsigned int explored(uint64_t capture)
{
	for (unsigned int i = 0; i < 4096; i++) {
		costs_are(1000, capture, 0);
		ck_assert_int_eq(patch(1, 1), REPRISE_PATCH_DONE);
	}
	return driver.updated;
}

START_TEST(the_dearer_means_is_tried_now_and_then)
{
	ck_assert_uint_eq(explored(400), 4);
}
END_TEST

START_TEST(what_is_far_dearer_is_not_tried)
{
	ck_assert_uint_eq(explored(600), 0);
}
END_TEST

START_TEST(what_was_only_tried_and_is_refused_is_done_by_the_other_means)
{
	costs_are(60000, 620, 55);
	driver.refuses = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	ck_assert_int_eq(patch(0, 1), REPRISE_PATCH_DONE);
	ck_assert_uint_eq(driver.set, 2);
}
END_TEST

/* ---- refusals ---- */

START_TEST(a_node_that_is_refused_is_updated_with_the_graph_and_then_no_longer_asked_for)
{
	driver.set_always_fails = true;
	for (unsigned int i = 0; i < 5; i++) {
		costs_are(600, 620, 55);
		ck_assert_int_eq(patch(5, 5), REPRISE_PATCH_DONE);
	}
	ck_assert_uint_eq(driver.set, 3);
	ck_assert_uint_eq(driver.updated, 5);
}
END_TEST

START_TEST(a_graph_that_is_half_set_is_broken_until_it_is_updated)
{
	costs_are(600, 620, 55);
	driver.fails_at = 2;
	driver.refuses = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	ck_assert_int_eq(patch(0, 2), REPRISE_PATCH_BROKEN);
	ck_assert(trace->graph.mixed);
	driver.refuses = CU_GRAPH_EXEC_UPDATE_SUCCESS;
	ck_assert_int_eq(patch(0, 0), REPRISE_PATCH_DONE);
	ck_assert(!trace->graph.mixed);
	ck_assert_uint_eq(driver.set, 2);
}
END_TEST

START_TEST(a_refusal_leaves_the_graph_and_its_reason_is_counted)
{
	static const struct {
		CUgraphExecUpdateResult reason;
		enum reprise_counter counter;
	} rows[] = {
		{CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, REPRISE_COUNT_refused_topology},
		{CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, REPRISE_COUNT_refused_node_type},
		{CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, REPRISE_COUNT_refused_function},
		{CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, REPRISE_COUNT_refused_parameters},
		{CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, REPRISE_COUNT_refused_attributes},
		{CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, REPRISE_COUNT_refused_unsupported},
		{CU_GRAPH_EXEC_UPDATE_ERROR, REPRISE_COUNT_refused_otherwise},
	};

	trace->graph.nodes[3].settable = false;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t before = atomic_load(&reprise_counters[rows[i].counter]);

		driver.refuses = rows[i].reason;
		ck_assert_int_eq(patch(3, 3), REPRISE_PATCH_REFUSED);
		ck_assert(!trace->graph.mixed);
		ck_assert_uint_eq(atomic_load(&reprise_counters[rows[i].counter]), before + 1);
	}
}
END_TEST

/* ---- costs ---- */

START_TEST(an_estimate_follows_what_is_measured)
{
	ck_assert(!reprise_cost_is_measured(REPRISE_COST_build));
	reprise_cost_took(REPRISE_COST_build, 0, 0); /* of nothing */
	ck_assert(!reprise_cost_is_measured(REPRISE_COST_build));
	for (unsigned int i = 0; i < 60; i++)
		reprise_cost_took(REPRISE_COST_build, 9000, 3);
	ck_assert(reprise_cost_is_measured(REPRISE_COST_build));
	ck_assert(!reprise_cost_is_measured(REPRISE_COST_capture));
	ck_assert_uint_ge(reprise_cost(REPRISE_COST_build, 1), 2950);
	ck_assert_uint_le(reprise_cost(REPRISE_COST_build, 1), 3050);
}
END_TEST

START_TEST(one_interrupt_does_not_decide_anything)
{
	uint64_t before = reprise_cost(REPRISE_COST_eager, 1);

	reprise_cost_took(REPRISE_COST_eager, 1000000000, 1);
	ck_assert_uint_le(reprise_cost(REPRISE_COST_eager, 1), before * 3 / 2);
}
END_TEST

START_TEST(an_estimate_of_nothing_can_rise_again)
{
	for (unsigned int i = 0; i < 1000; i++)
		reprise_cost_took(REPRISE_COST_launch, 0, 1);
	ck_assert_uint_eq(reprise_cost(REPRISE_COST_launch, 1), 0);
	for (unsigned int i = 0; i < 1000; i++)
		reprise_cost_took(REPRISE_COST_launch, 2000, 1);
	ck_assert_uint_ge(reprise_cost(REPRISE_COST_launch, 1), 1950);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("patch");
	TCase *means = tcase_create("means"), *refusals = tcase_create("refusals"),
		  *costs = tcase_create("costs");

	tcase_add_checked_fixture(means, setup, teardown);
	tcase_add_test(means, the_cheaper_means_is_taken);
	tcase_add_test(means, the_dearer_means_is_tried_now_and_then);
	tcase_add_test(means, what_is_far_dearer_is_not_tried);
	tcase_add_test(means, what_was_only_tried_and_is_refused_is_done_by_the_other_means);
	suite_add_tcase(suite, means);
	tcase_add_checked_fixture(refusals, setup, teardown);
	tcase_add_test(refusals,
	               a_node_that_is_refused_is_updated_with_the_graph_and_then_no_longer_asked_for);
	tcase_add_test(refusals, a_graph_that_is_half_set_is_broken_until_it_is_updated);
	tcase_add_test(refusals, a_refusal_leaves_the_graph_and_its_reason_is_counted);
	suite_add_tcase(suite, refusals);
	tcase_add_test(costs, an_estimate_follows_what_is_measured);
	tcase_add_test(costs, one_interrupt_does_not_decide_anything);
	tcase_add_test(costs, an_estimate_of_nothing_can_rise_again);
	suite_add_tcase(suite, costs);
	return run_suite(suite);
}
