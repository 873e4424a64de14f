/* How many ops make a graph. */
#include "../../suite.h"
#include "base/tuning.h"
#include "trace/plan.h"

#define MOST (REPRISE_TUNE_PLAN_MOST + 8)
#define HOLD_NS 400000

static struct reprise_op ops[MOST];

/* Pairs of a host function and a kernel. */
START_TEST(a_graph_has_few_host_functions)
{
	for (unsigned int i = 0; i < MOST; i++)
		ops[i] = (struct reprise_op){.kind = i % 2 == 0 ? REPRISE_OP_HOST : REPRISE_OP_KERNEL};
	ck_assert_uint_eq(reprise_plan_within_functions(ops, MOST), 2 * REPRISE_TUNE_PLAN_FUNCTIONS);
	ck_assert_uint_eq(reprise_plan_within_functions(ops + 1, MOST - 1),
	                  2 * REPRISE_TUNE_PLAN_FUNCTIONS + 1);
	ck_assert_uint_eq(reprise_plan_within_functions(ops, 2 * REPRISE_TUNE_PLAN_FUNCTIONS),
	                  2 * REPRISE_TUNE_PLAN_FUNCTIONS);
	ck_assert_uint_eq(reprise_plan_within_functions(ops, 7), 7);
}
END_TEST

START_TEST(where_there_are_none_a_graph_may_have_all)
{
	for (unsigned int i = 0; i < MOST; i++)
		ops[i] = (struct reprise_op){.kind = REPRISE_OP_KERNEL};
	ck_assert_uint_eq(reprise_plan_within_functions(ops, MOST), MOST);
	ck_assert_uint_eq(reprise_plan_within_functions(ops, 0), 0);
}
END_TEST

/* ---- what goes into one trace, in a segment of kernels before a wait ---- */

static uint32_t gaps[MOST];
static bool any_value[MOST];
static struct reprise_segment segment;

/* So many kernels, each so long behind the one before. */
static void kernels(unsigned int count, uint32_t gap)
{
	segment = (struct reprise_segment){
		.ops = ops, .gaps = gaps, .count = count, .ends_in_wait = true, .any_value = any_value};
	for (unsigned int i = 0; i < count; i++) {
		ops[i] = (struct reprise_op){.kind = REPRISE_OP_KERNEL};
		gaps[i] = gap;
		any_value[i] = false;
	}
}

static unsigned int piece(void)
{
	return reprise_plan_piece(&segment, 0, HOLD_NS, false);
}

static unsigned int first_of(unsigned int count, uint32_t gap, uint32_t last_gap, bool ends_in_wait)
{
	kernels(count, gap);
	segment.ends_in_wait = ends_in_wait;
	gaps[count - 1] = last_gap;
	return piece();
}

START_TEST(the_first_trace_spans_what_an_eager_launch_takes)
{
	ck_assert_uint_eq(first_of(20, 500, 500, true), 1 + REPRISE_TUNE_PLAN_FIRST_SPAN_NS / 500);
}
END_TEST

/* A graph of theirs would cost more than to wait for them. */
START_TEST(few_ops_before_a_wait_go_with_those_before_them)
{
	ck_assert_uint_eq(first_of(8, 500, 500, true), 8);
	ck_assert_uint_eq(first_of(9, 500, 500, true), 9);
	ck_assert_uint_eq(first_of(10, 500, 500, true), 7);
}
END_TEST

/* So many that come at once give the GPU enough to begin with. */
START_TEST(not_behind_a_first_trace_that_is_full)
{
	ck_assert_uint_eq(first_of(REPRISE_TUNE_PLAN_FIRST + 2, 1, 1, true), REPRISE_TUNE_PLAN_FIRST);
}
END_TEST

START_TEST(not_where_the_host_takes_longer_for_them)
{
	ck_assert_uint_eq(first_of(9, 500, REPRISE_TUNE_PLAN_BORDER_NS - 500, true), 9);
	ck_assert_uint_eq(first_of(9, 500, REPRISE_TUNE_PLAN_BORDER_NS - 499, true), 7);
}
END_TEST

/* It would be an eager call, or a graph of its own. */
START_TEST(one_op_may_take_as_long_as_an_eager_call)
{
	ck_assert_uint_eq(first_of(8, 500, REPRISE_TUNE_PLAN_FIRST_SPAN_NS, true), 8);
	ck_assert_uint_eq(first_of(8, 500, REPRISE_TUNE_PLAN_FIRST_SPAN_NS + 1, true), 7);
}
END_TEST

START_TEST(not_where_no_wait_follows)
{
	ck_assert_uint_eq(first_of(8, 500, 500, false), 7);
}
END_TEST

/* To set values takes long. Those of the ops before are set as ever. */
START_TEST(not_where_the_value_of_one_is_set)
{
	kernels(9, 500);
	any_value[8] = true;
	ck_assert_uint_eq(piece(), 7);
	any_value[8] = false;
	any_value[6] = true;
	ck_assert_uint_eq(piece(), 9);
}
END_TEST

START_TEST(not_where_one_is_a_copy_between_devices)
{
	kernels(9, 500);
	ops[8] = (struct reprise_op){.kind = REPRISE_OP_COPY};
	ops[8].copy.form = REPRISE_COPY_PEER;
	ck_assert_uint_eq(piece(), 7);
}
END_TEST

/* Behind the first trace, whose ops may span more. */
START_TEST(not_beyond_the_most_ops_of_a_trace)
{
	const unsigned int spanned = 1 + REPRISE_TUNE_PLAN_SPAN_NS / 300;

	ck_assert_uint_gt(spanned + 3, REPRISE_TUNE_PLAN_MOST);
	kernels(spanned + 2, 300);
	segment.position.since_wait = 100;
	gaps[0] = 0;
	ck_assert_uint_le(segment.count, REPRISE_TUNE_PLAN_MOST);
	segment.ends_in_wait = false;
	ck_assert_uint_eq(piece(), spanned);
	segment.ends_in_wait = true;
	ck_assert_uint_ne(piece(), spanned);
	kernels(spanned + 3, 300);
	segment.position.since_wait = 100;
	ck_assert_uint_eq(piece(), spanned);
}
END_TEST

/* The rest of the hold limit is a margin for slower visits. */
START_TEST(not_beyond_what_a_trace_may_span_of_the_hold_limit)
{
	kernels(8, 500);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 3500 * 16 / REPRISE_TUNE_PLAN_HOLD + 16,
	                                     false),
	                  8);
	ck_assert_uint_eq(reprise_plan_piece(&segment, 0, 3500 * 16 / REPRISE_TUNE_PLAN_HOLD - 16,
	                                     false),
	                  7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *tests = tcase_create("plan");

	tcase_add_test(tests, a_graph_has_few_host_functions);
	tcase_add_test(tests, where_there_are_none_a_graph_may_have_all);
	tcase_add_test(tests, the_first_trace_spans_what_an_eager_launch_takes);
	tcase_add_test(tests, few_ops_before_a_wait_go_with_those_before_them);
	tcase_add_test(tests, not_behind_a_first_trace_that_is_full);
	tcase_add_test(tests, not_where_the_host_takes_longer_for_them);
	tcase_add_test(tests, one_op_may_take_as_long_as_an_eager_call);
	tcase_add_test(tests, not_where_no_wait_follows);
	tcase_add_test(tests, not_where_the_value_of_one_is_set);
	tcase_add_test(tests, not_where_one_is_a_copy_between_devices);
	tcase_add_test(tests, not_beyond_the_most_ops_of_a_trace);
	tcase_add_test(tests, not_beyond_what_a_trace_may_span_of_the_hold_limit);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
