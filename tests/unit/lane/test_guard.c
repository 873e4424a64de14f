/* An op that is not what the trace expects: whether the visit goes on, and with which values. */
#include "../../suite.h"
#include "program.h"

/* ---- values ---- */

START_TEST(any_value_is_patched_in)
{
	uint64_t patched;
	unsigned int set;

	learns_any_value();
	patched = counted()->patched;
	set = driver.nodes_set;
	CALLS_ARE_SEEN_AS("a b c2001 d |", "[a b c2001 d]");
	CALLS_ARE_SEEN_AS("a b c2001 d |", "[a b c2001 d]"); /* the graph has it now */
	CALLS_ARE_SEEN_AS("a b c7 d |", "[a b c7 d]");
	ck_assert_uint_eq(counted()->patched, patched + 2);
	ck_assert_uint_eq(driver.nodes_set, set + 2);
	ck_assert_uint_eq(EXITS(values), 0);
}
END_TEST

/* What a visit brought that was not launched must not be in the next one. */
START_TEST(values_of_a_visit_that_was_left_are_dropped)
{
	learns_any_value();
	CALLS_ARE_SEEN_AS("a b c2001 x |", "(a) (b) (c2001) x");
	CALLS_ARE_SEEN_AS("a b c2000 d |", "[a b c2000 d]");
	CALLS_ARE_SEEN_AS("a b c2002 |", "(a) (b) (c2002)");
	CALLS_ARE_SEEN_AS("a b c2000 d |", "[a b c2000 d]");
}
END_TEST

START_TEST(a_node_that_cannot_be_set_is_updated_with_its_graph)
{
	learns_any_value();
	driver.refuses_nodes = true;
	CALLS_ARE_SEEN_AS("a b c2001 d |", "[a b c2001 d]");
	ck_assert_uint_eq(driver.updates, 1);
	driver.refuses_updates = true;
	CALLS_ARE_SEEN_AS("a b c2002 d |", "(a) (b) (c2002) (d)");
	ck_assert_uint_eq(EXITS(launch), 1);
	ck_assert_uint_eq(counted()->exited[REPRISE_EXIT_launch], 4);
	driver.refuses_nodes = driver.refuses_updates = false;
	CALLS_ARE_SEEN_AS("a b c2001 d |", "[a b c2001 d]"); /* with the values that it had */
}
END_TEST

START_TEST(a_value_miss_leaves_the_trace)
{
	learns("a b c d e |", "[a b c d e]");
	CALLS_ARE_SEEN_AS("a b c7 d e |", "(a) (b) c7 d e");
	ck_assert_uint_eq(EXITS(values), 1);
	ck_assert_uint_eq(counted()->exited[REPRISE_EXIT_values], 2);
	ck_assert_uint_eq(EXITS(guard), 0);
	CALLS_ARE_SEEN_AS("a b c d e |", "[a b c d e]");
}
END_TEST

/* The rest of that visit is only watched, also where it would begin a trace. */
START_TEST(the_rest_of_the_visit_is_watched)
{
	learns("a b c d e f |", "[a b c d e f]");
	learns("x / d e f |", "x [d e f]");
	CALLS_ARE_SEEN_AS("a b c7 / d e f |", "(a) (b) c7 d e f");
	CALLS_ARE_SEEN_AS("x / d e f |", "x [d e f]");
}
END_TEST

/* Three values that nobody has seen are as many as 24 others. */
START_TEST(new_values_make_an_op_any_value)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b c1 d |", "(a) (b) c1 d");
	CALLS_ARE_SEEN_AS("a b c2 d |", "(a) (b) c2 d");
	CALLS_ARE_SEEN_AS("a b c3 d |", "(a) (b) c3 d");
	CALLS_ARE_SEEN_AS("a b c4 d |", "[a b c4 d]");
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
}
END_TEST

/* ---- other traces ---- */

START_TEST(a_sibling_goes_on)
{
	uint64_t siblings;

	learns("a1 b c d |", "[a1 b c d]");
	learns("a1 b x y |", "[a1 b x y]");
	siblings = counted()->siblings;
	CALLS_ARE_SEEN_AS("a1 b c d |", "[a1 b c d]");
	CALLS_ARE_SEEN_AS("a1 b x y |", "[a1 b x y]");
	CALLS_ARE_SEEN_AS("a1 b x y |", "[a1 b x y]");
	CALLS_ARE_SEEN_AS("a1 b c d |", "[a1 b c d]");
	ck_assert_uint_eq(counted()->siblings, siblings + 3);
}
END_TEST

START_TEST(a_sibling_gets_the_values_so_far)
{
	for (unsigned int visit = 1000; visit < 1100; visit++) {
		calls_with(visit % 2 == 0 ? "a%u b c d |" : "a%u b x y |", visit);
		graphs_are_built();
	}
	CALLS_ARE_SEEN_AS("a2000 b c d |", "[a2000 b c d]");
	CALLS_ARE_SEEN_AS("a2001 b x y |", "[a2001 b x y]");
	CALLS_ARE_SEEN_AS("a2002 b c d |", "[a2002 b c d]");
	CALLS_ARE_SEEN_AS("a2002 b x y |", "[a2002 b x y]");
	CALLS_ARE_SEEN_AS("a2003 b x z |", "(a2003) (b) (x) z");
}
END_TEST

/* Otherwise each would be left for want of the other, for longer and longer. */
START_TEST(the_only_sibling_returns_from_its_cooldown)
{
	static const char *const options[] = {"REPRISE_SMALLEST=4", NULL};

	program_begins_with(options);
	learns("a b c d |", "[a b c d]");
	learns("a b x y |", "[a b x y]");
	for (unsigned int visit = 0; visit < 100; visit++) /* the first one was left meanwhile */
		calls("a b x y |");
	for (unsigned int visit = 0; visit < 7; visit++)
		CALLS_ARE_SEEN_AS("a b x |", "(a) (b) (x)");
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b x y |", "[a b x y]");
}
END_TEST

START_TEST(another_op_leaves_the_trace)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b x d |", "(a) (b) x d");
	ck_assert_uint_eq(EXITS(guard), 1);
	ck_assert_uint_eq(EXITS(values), 0);
}
END_TEST

/* ---- absent ops ---- */

START_TEST(an_absent_op_is_skipped)
{
	learns("a b c d e f |", "[a b c d e f]");
	CALLS_ARE_SEEN_AS("a b d e f |", "[a b d e f]");
	ck_assert_uint_eq(counted()->absent, 1);
	CALLS_ARE_SEEN_AS("a b c d e f |", "[a b c d e f]"); /* and it comes back */
	CALLS_ARE_SEEN_AS("a d e f |", "[a d e f]");
	CALLS_ARE_SEEN_AS("a b c d e f |", "[a b c d e f]");
	ck_assert_uint_eq(counted()->absent, 3);
	ck_assert_uint_eq(EXITS(guard), 0);
	ck_assert_uint_eq(driver.toggles, 6);
}
END_TEST

/* To disable and enable three nodes takes longer than to launch the other three. */
START_TEST(not_where_eager_calls_cost_less)
{
	learns("a b c d e f |", "[a b c d e f]");
	CALLS_ARE_SEEN_AS("a d f |", "(a) (d) f");
	ck_assert_int_eq(driver.toggles, 0);
}
END_TEST

START_TEST(absent_ops_are_not_issued)
{
	learns("a b c d e f |", "[a b c d e f]");
	CALLS_ARE_SEEN_AS("a b d x |", "(a) (b) (d) x");
	ck_assert_uint_eq(counted()->exited[REPRISE_EXIT_guard], 3);
	driver.refuses_toggles = true;
	CALLS_ARE_SEEN_AS("a b d e f |", "(a) (b) (d) (e) (f)");
	ck_assert_uint_eq(counted()->exited[REPRISE_EXIT_launch], 5);
	ck_assert_uint_eq(counted()->absent, 0);
}
END_TEST

/* What the first trace after a wait holds, and the second. */
#define HEAD "q r s t u v w x"
#define LONG "a b c d e f g h i j k l m n o p"

START_TEST(no_more_than_four_in_a_row)
{
	learns(HEAD " " LONG "|", "[" HEAD "] [" LONG "]");
	CALLS_ARE_SEEN_AS(HEAD " a f g h i j k l m n o p |", "[" HEAD "] [a f g h i j k l m n o p]");
	CALLS_ARE_SEEN_AS(HEAD " a g h i j k l m n o p |", "[" HEAD "] (a) g h i j k l m n o p");
}
END_TEST

START_TEST(the_first_and_the_last_are_never_absent)
{
	learns("a b c d e f |", "[a b c d e f]");
	CALLS_ARE_SEEN_AS("b c d e f |", "b c d e f");
	CALLS_ARE_SEEN_AS("a b c d e |", "(a) (b) (c) (d) (e)");
}
END_TEST

/* The letter of a memset is a capital one. */
START_TEST(a_memset_is_never_absent)
{
	learns("a b M d e f |", "[a b M d e f]");
	CALLS_ARE_SEEN_AS("a b d e f |", "(a) (b) d e f");
	CALLS_ARE_SEEN_AS("a M d e f |", "[a M d e f]");
}
END_TEST

/* An op that comes every other time: its node is disabled and enabled, until that has cost as much
 * as a trace without it would. Then the trace is left, to see what comes instead. */
START_TEST(what_is_often_absent_gets_a_trace_without_it)
{
	unsigned int toggles;

	learns("a b c d e f |", "[a b c d e f]");
	for (unsigned int visit = 0; visit < 200; visit++) {
		calls(visit % 2 == 0 ? "a b d e f |" : "a b c d e f |");
		graphs_are_built();
	}
	ck_assert_uint_gt(counted()->absent, 3);
	toggles = driver.toggles;
	for (unsigned int visit = 0; visit < 10; visit++) {
		CALLS_ARE_SEEN_AS("a b d e f |", "[a b d e f]");
		CALLS_ARE_SEEN_AS("a b c d e f |", "[a b c d e f]");
	}
	ck_assert_uint_eq(driver.toggles, toggles);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guard");
	TCase *tests = tcase_create("guard");

	tcase_add_checked_fixture(tests, program_begins, NULL);
	tcase_add_test(tests, any_value_is_patched_in);
	tcase_add_test(tests, values_of_a_visit_that_was_left_are_dropped);
	tcase_add_test(tests, a_node_that_cannot_be_set_is_updated_with_its_graph);
	tcase_add_test(tests, a_value_miss_leaves_the_trace);
	tcase_add_test(tests, the_rest_of_the_visit_is_watched);
	tcase_add_test(tests, new_values_make_an_op_any_value);
	tcase_add_test(tests, a_sibling_goes_on);
	tcase_add_test(tests, a_sibling_gets_the_values_so_far);
	tcase_add_test(tests, the_only_sibling_returns_from_its_cooldown);
	tcase_add_test(tests, another_op_leaves_the_trace);
	tcase_add_test(tests, an_absent_op_is_skipped);
	tcase_add_test(tests, not_where_eager_calls_cost_less);
	tcase_add_test(tests, absent_ops_are_not_issued);
	tcase_add_test(tests, no_more_than_four_in_a_row);
	tcase_add_test(tests, the_first_and_the_last_are_never_absent);
	tcase_add_test(tests, a_memset_is_never_absent);
	tcase_add_test(tests, what_is_often_absent_gets_a_trace_without_it);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
