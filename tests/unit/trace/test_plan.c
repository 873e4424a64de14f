/* How many ops make a graph. */
#include "../../suite.h"
#include "base/tuning.h"
#include "trace/plan.h"

#define MOST 64

/* Pairs of a host function and a kernel. */
START_TEST(a_graph_has_few_host_functions)
{
	struct reprise_op ops[MOST];

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
	struct reprise_op ops[MOST];

	for (unsigned int i = 0; i < MOST; i++)
		ops[i] = (struct reprise_op){.kind = REPRISE_OP_KERNEL};
	ck_assert_uint_eq(reprise_plan_within_functions(ops, MOST), MOST);
	ck_assert_uint_eq(reprise_plan_within_functions(ops, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *tests = tcase_create("plan");

	tcase_add_test(tests, a_graph_has_few_host_functions);
	tcase_add_test(tests, where_there_are_none_a_graph_may_have_all);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
