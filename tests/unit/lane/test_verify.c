/* REPRISE=verify: what the program asked for is kept beside what it is answered with, and the first
 * difference is told, and stops Reprise. */
#include <string.h>

#include "../../suite.h"
#include "base/store.h"
#include "driver/driver.h"
#include "graph/shadow.h"
#include "lane/eager.h"
#include "lane/verify.h"
#include "program.h"

#define OPS 4

static struct reprise_lane *lane;

/* The visit has come to its third op. */
static void setup(void)
{
	program_begins();
	learns("a b c d |", "[a b c d]");
	calls("a b");
	lane = lane_of(1);
	reprise_verify_begin(lane);
}

static void ask_for(char letter, uint32_t value)
{
	void *params[] = {&value};
	const struct reprise_call call = {.kind = REPRISE_OP_KERNEL,
	                                  .stream = driver_stream(1),
	                                  .kernel = {.function = (CUfunction)(uintptr_t)letter,
	                                             .grid = {1, 1, 1},
	                                             .block = {1, 1, 1},
	                                             .params = params}};

	reprise_verify_ask(lane, &call);
}

static const struct reprise_op *kept(unsigned int i)
{
	return &lane->trace->ops[i];
}

static void nothing_is_told(void)
{
	ck_assert_uint_eq(count_of(REPRISE_COUNT_differences), 0);
	ck_assert_str_eq(reprise_verify_difference(), "");
	ck_assert_ptr_null(reprise_stopped());
}

START_TEST(what_was_asked_for_is_issued_as_it_was_kept)
{
	ask_for('a', 0);
	ask_for('b', 0);
	ck_assert_ptr_eq(reprise_verify_op(lane, 0, kept(0)), kept(0));
	ck_assert_ptr_eq(reprise_verify_op(lane, 1, kept(1)), kept(1));
	nothing_is_told();
}
END_TEST

START_TEST(a_difference_is_told_and_the_programs_op_is_issued)
{
	const struct reprise_op *issued;

	ask_for('a', 0);
	ask_for('b', 7);
	ck_assert_ptr_eq(reprise_verify_op(lane, 0, kept(0)), kept(0));
	issued = reprise_verify_op(lane, 1, kept(1));
	ck_assert_ptr_ne(issued, kept(1));
	ck_assert_int_eq(issued->payload[0], 7);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_differences), 1);
	ck_assert_str_eq(reprise_stopped(), "verify found a difference");
	ck_assert_ptr_nonnull(strstr(reprise_verify_difference(), "node 1 of graph"));
	ck_assert_ptr_nonnull(strstr(reprise_verify_difference(), "(kernel), as Reprise kept it: "));
	ck_assert_ptr_nonnull(strstr(reprise_verify_difference(), "the program passed 0x7, not 0"));
}
END_TEST

START_TEST(only_the_first_difference_is_in_words)
{
	char first[400];

	ask_for('a', 5);
	ask_for('b', 7);
	reprise_verify_op(lane, 0, kept(0));
	strcpy(first, reprise_verify_difference());
	ck_assert_ptr_nonnull(strstr(first, "node 0 of graph"));
	reprise_verify_op(lane, 1, kept(1));
	ck_assert_uint_eq(count_of(REPRISE_COUNT_differences), 2);
	ck_assert_str_eq(reprise_verify_difference(), first);
}
END_TEST

START_TEST(what_was_not_kept_is_issued_as_it_is)
{
	ck_assert_ptr_eq(reprise_verify_op(lane, 0, kept(0)), kept(0));
	ask_for('a', 5);
	ck_assert_ptr_eq(reprise_verify_op(lane, 1, kept(1)), kept(1));
	reprise_verify_begin(lane); /* the next visit */
	ck_assert_ptr_eq(reprise_verify_op(lane, 0, kept(0)), kept(0));
}
END_TEST

/* A call that could be no op is not kept, and those behind it are at their places. */
START_TEST(a_call_that_cannot_be_kept_takes_a_place)
{
	struct reprise_call call = {.kind = REPRISE_OP_HOST, .stream = driver_stream(1)};

	reprise_verify_ask(lane, &call);
	ask_for('b', 7);
	ck_assert_ptr_eq(reprise_verify_op(lane, 0, kept(0)), kept(0));
	nothing_is_told();
	ck_assert_ptr_ne(reprise_verify_op(lane, 1, kept(1)), kept(1));
}
END_TEST

/* No trace is longer than there is room for. */
START_TEST(more_calls_than_a_trace_can_have_are_not_kept)
{
	for (unsigned int i = 0; i < REPRISE_TUNE_SEGMENT_MOST + 10; i++)
		ask_for('a', i);
	ck_assert_ptr_ne(reprise_verify_op(lane, REPRISE_TUNE_SEGMENT_MOST - 1, kept(0)), kept(0));
	ck_assert_ptr_eq(reprise_verify_op(lane, REPRISE_TUNE_SEGMENT_MOST, kept(0)), kept(0));
}
END_TEST

START_TEST(what_was_kept_is_given_back_with_the_next_visit)
{
	uint64_t used = reprise_store_used();

	for (unsigned int visit = 0; visit < 3; visit++) {
		for (unsigned int i = 0; i < 100; i++)
			ask_for('a', i);
		ck_assert_uint_ge(reprise_store_used(), used + 100 * sizeof(struct reprise_op));
		reprise_verify_begin(lane);
		ck_assert_uint_eq(reprise_store_used(), used);
	}
}
END_TEST

/* ---- whole graphs: nothing is known of the nodes here (graph/shadow.h) ---- */

static const struct {
	unsigned int asked;  /* ops that were kept */
	unsigned int differ; /* the one that differs; OPS: none */
} graphs[] = {{0, OPS}, {2, OPS}, {OPS, OPS}, {OPS, 0}, {OPS, OPS - 1}, {2, 3}};

START_TEST(a_graph_agrees_if_all_its_ops_do)
{
	bool agrees = graphs[_i].differ >= graphs[_i].asked;

	for (unsigned int i = 0; i < graphs[_i].asked; i++)
		ask_for((char)('a' + i), i == graphs[_i].differ ? 9 : 0);
	ck_assert_int_eq(reprise_verify_graph(lane), agrees);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_differences), !agrees);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_nodes_not_verified), agrees ? OPS : graphs[_i].differ);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_nodes_verified), 0);
	ck_assert_int_eq(reprise_stopped() != NULL, !agrees);
}
END_TEST

/* The nodes as they are known to be: as the trace has them, but for one. */
START_TEST(a_graph_agrees_if_all_its_nodes_do)
{
	unsigned int differs = (unsigned int)_i;
	uint32_t values[OPS];
	void *params[1];

	reprise_verifying = true;
	ck_assert_ptr_nonnull(reprise_shadow_nodes(&lane->trace->graph));
	for (unsigned int i = 0; i < OPS; i++) {
		values[i] = i == differs ? 3 : 0;
		params[0] = &values[i];
		ask_for((char)('a' + i), 0);
		reprise_shadow_kernel(&lane->trace->graph, i,
		                      &(CUDA_KERNEL_NODE_PARAMS){.gridDimX = 1,
		                                                 .gridDimY = 1,
		                                                 .gridDimZ = 1,
		                                                 .kernelParams = params});
	}
	ck_assert_int_eq(reprise_verify_graph(lane), differs == OPS);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_nodes_verified), differs == OPS ? OPS : differs + 1);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_nodes_not_verified), 0);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_differences), differs != OPS);
	ck_assert_int_eq(strstr(reprise_verify_difference(), "as its node was set: ") != NULL,
	                 differs != OPS);
}
END_TEST

/* ---- the wait behind a launch ---- */

static CUstream waited_for;
static CUresult answer;

static CUresult CUDAAPI synchronize(CUstream stream)
{
	waited_for = stream;
	return answer;
}

START_TEST(the_error_of_a_replay_is_returned)
{
	reprise_driver.cuStreamSynchronize = synchronize;
	ck_assert_int_eq(reprise_verify_wait(lane), CUDA_SUCCESS);
	ck_assert_ptr_eq(waited_for, driver_stream(1));
	answer = CUDA_ERROR_ILLEGAL_ADDRESS;
	ck_assert_int_eq(reprise_verify_wait(lane), CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, verify");
	TCase *tests = tcase_create("verify");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, what_was_asked_for_is_issued_as_it_was_kept);
	tcase_add_test(tests, a_difference_is_told_and_the_programs_op_is_issued);
	tcase_add_test(tests, only_the_first_difference_is_in_words);
	tcase_add_test(tests, what_was_not_kept_is_issued_as_it_is);
	tcase_add_test(tests, a_call_that_cannot_be_kept_takes_a_place);
	tcase_add_test(tests, more_calls_than_a_trace_can_have_are_not_kept);
	tcase_add_test(tests, what_was_kept_is_given_back_with_the_next_visit);
	tcase_add_loop_test(tests, a_graph_agrees_if_all_its_ops_do, 0,
	                    sizeof(graphs) / sizeof(graphs[0]));
	tcase_add_loop_test(tests, a_graph_agrees_if_all_its_nodes_do, 0, OPS + 1);
	tcase_add_test(tests, the_error_of_a_replay_is_returned);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
