/* Which trace the first op of a visit begins, and where none is begun. */
#include <stdio.h>

#include "../../suite.h"
#include "base/gate.h"
#include "program.h"

/* With one op more: the first trace after a wait. */
#define HEAD "b c d e f g h i j k l m n o p q r s t u v w y"
#define REST "C D E F G H I J K L"

START_TEST(a_trace_is_entered_by_its_first_op)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b c", "");
	CALLS_ARE_SEEN_AS("d", "[a b c d]");
	ck_assert_uint_eq(driver.launches, counted()->launches);
}
END_TEST

START_TEST(not_when_the_first_op_is_another)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("e b c d |", "e b c d");
	CALLS_ARE_SEEN_AS("b c d |", "b c d");
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]"); /* it is still there */
}
END_TEST

START_TEST(not_behind_other_ops)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("x a b c d |", "x a b c d");
	CALLS_ARE_SEEN_AS("x / a b c d |", "x a b c d"); /* a barrier is no wait */
}
END_TEST

START_TEST(not_with_other_values)
{
	learns("a1 b c d |", "[a1 b c d]");
	CALLS_ARE_SEEN_AS("a2 b c d |", "a2 b c d");
	CALLS_ARE_SEEN_AS("a1 b c d |", "[a1 b c d]");
	ck_assert_uint_eq(counted()->patched, 0);
}
END_TEST

START_TEST(the_values_tell_which_of_two)
{
	learns("a1 b1 c1 d1 |", "[a1 b1 c1 d1]");
	learns("a2 b2 c2 d2 |", "[a2 b2 c2 d2]");
	for (unsigned int visit = 0; visit < 3; visit++) {
		CALLS_ARE_SEEN_AS("a1 b1 c1 d1 |", "[a1 b1 c1 d1]");
		CALLS_ARE_SEEN_AS("a2 b2 c2 d2 |", "[a2 b2 c2 d2]");
	}
	CALLS_ARE_SEEN_AS("a2 b2 c2 d2 |", "[a2 b2 c2 d2]");
	ck_assert_uint_eq(counted()->siblings, 0);
	ck_assert_int_eq(driver.nodes_set, 0);
}
END_TEST

/* A counter, say: it never comes again, so the trace is for any. */
START_TEST(an_op_of_any_value_begins_a_trace)
{
	unsigned int visit = 1;

	for (; visit < 40; visit++) {
		calls_with("a%u b c d |", visit);
		graphs_are_built();
	}
	driver_saw();
	calls_with("a%u b c d |", 1000);
	IS_SEEN("[a1000 b c d]");
	calls_with("a%u b c d |", 1001);
	IS_SEEN("[a1001 b c d]");
}
END_TEST

/* The trace that has the values comes before the one that takes any, while it is looked for
 * (test_guard.c). */
START_TEST(its_own_values_come_first)
{
	unsigned int set;

	learns("a7 b c x |", "[a7 b c x]");
	for (unsigned int visit = 100; visit < 140; visit++) {
		calls_with("a%u b c d |", visit);
		graphs_are_built();
	}
	lane_of(1)->expected->no_other = 0;
	set = driver.nodes_set;
	driver_saw();
	calls("a7 b c x |");
	IS_SEEN("[a7 b c x]");
	ck_assert_uint_eq(driver.nodes_set, set);
	ck_assert_uint_eq(counted()->siblings, 0);
}
END_TEST

/* Two loops have the same op behind their first traces. Only what followed last time tells which
 * trace it begins; without that the one of the last visit would be taken, and left for the other. */
START_TEST(what_followed_last_time_is_expected)
{
	learns("a1 " HEAD " " REST " y |", "[a1 " HEAD "] [" REST " y]");
	learns("a3 " HEAD " " REST " z |", "[a3 " HEAD "] [" REST " z]");
	learns("a2 " HEAD " " REST " z |",
	       "[a2 " HEAD "] [" REST " z]");             /* behind it: found by value */
	for (unsigned int visit = 0; visit < 40; visit++) /* the trace that was left is in cooldown */
		calls("a2 " HEAD " " REST " z |");
	for (unsigned int visit = 0; visit < 4; visit++) {
		uint64_t siblings = counted()->siblings;

		CALLS_ARE_SEEN_AS("a2 " HEAD " " REST " z |", "[a2 " HEAD "] [" REST " z]");
		CALLS_ARE_SEEN_AS("a1 " HEAD " " REST " y |", "[a1 " HEAD "] [" REST " y]");
		ck_assert_uint_eq(counted()->siblings, siblings);
	}
}
END_TEST

/* What came behind a trace, with barriers at most in between, has followed it, and may follow it
 * anywhere. The trace behind is learnt at a place of that kind. */
static const struct {
	const char *between, *learnt;
	bool follows;
} others[] = {
	{"/", "x /", true},
	{"|", "|", true},
	{"x", "x", false},
	{"z", "x /", false},    /* the first launch of a kernel is no op */
	{"/ g h |", "|", false} /* a visit that was left */
};

START_TEST(what_came_next_has_followed)
{
	char words[64];

	learns("a b c / g h i |", "[a b c] [g h i]");
	for (unsigned int visit = 0; visit < 20; visit++) {
		snprintf(words, sizeof(words), "%s d e f |", others[_i].learnt);
		calls(words);
		graphs_are_built();
	}
	snprintf(words, sizeof(words), "a b c %s d e f |", others[_i].between);
	calls(words);
	CALLS_ARE_SEEN_AS("a b c d e f |", others[_i].follows ? "[a b c] [d e f]" : "[a b c] d e f");
}
END_TEST

#define WHOLE "a b c d e f"
#define CUT "a b c / d e f |"

static void cuts(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		calls(CUT);
		graphs_are_built();
	}
	driver_saw();
}

/* Each part follows the other, and was followed last. */
START_TEST(a_sequence_that_was_cut_for_a_while_is_replayed_whole_again)
{
	learns(WHOLE " |", "[" WHOLE "]");
	cuts(20);
	CALLS_ARE_SEEN_AS(CUT, "[a b c] [d e f]");
	learns(WHOLE " |", "[" WHOLE "]");
	CALLS_ARE_SEEN_AS(WHOLE " |", "[" WHOLE "]");
}
END_TEST

/* What is cut each time is in cooldown nearly always. */
START_TEST(a_sequence_that_is_cut_is_replayed_in_parts)
{
	uint64_t exits;

	learns(WHOLE " |", "[" WHOLE "]");
	cuts(1000);
	exits = EXITS(barrier);
	cuts(1000);
	ck_assert_uint_le(EXITS(barrier) - exits, 6);
}
END_TEST

/* The call may wait for what would be deferred. */
START_TEST(not_while_a_call_waits_for_all_work)
{
	learns("a b c d |", "[a b c d]");
	reprise_gate_begin_waiting();
	CALLS_ARE_SEEN_AS("a b c d |", "a b c d");
	reprise_gate_end_waiting();
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
}
END_TEST

START_TEST(not_before_its_graph_is_built)
{
	for (unsigned int visit = 0; visit < 10; visit++)
		calls("a b c d |");
	ck_assert_uint_gt(counted()->traces, 0);
	CALLS_ARE_SEEN_AS("a b c d |", "a b c d");
	graphs_are_built();
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
}
END_TEST

START_TEST(each_stream_has_traces_of_its_own)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("2:a 2:b 2:c 2:d |", "2:a 2:b 2:c 2:d");
	learns("2:a 2:b 2:c 2:d |", "2:[a b c d]");
	CALLS_ARE_SEEN_AS("a 2:a b 2:b c 2:c d 2:d |", "[a b c d] 2:[a b c d]");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("enter");
	TCase *tests = tcase_create("enter");

	tcase_add_checked_fixture(tests, program_begins, NULL);
	tcase_add_test(tests, a_trace_is_entered_by_its_first_op);
	tcase_add_test(tests, not_when_the_first_op_is_another);
	tcase_add_test(tests, not_behind_other_ops);
	tcase_add_test(tests, not_with_other_values);
	tcase_add_test(tests, the_values_tell_which_of_two);
	tcase_add_test(tests, an_op_of_any_value_begins_a_trace);
	tcase_add_test(tests, its_own_values_come_first);
	tcase_add_test(tests, what_followed_last_time_is_expected);
	tcase_add_loop_test(tests, what_came_next_has_followed, 0, sizeof(others) / sizeof(others[0]));
	tcase_add_test(tests, a_sequence_that_was_cut_for_a_while_is_replayed_whole_again);
	tcase_add_test(tests, a_sequence_that_is_cut_is_replayed_in_parts);
	tcase_add_test(tests, not_while_a_call_waits_for_all_work);
	tcase_add_test(tests, not_before_its_graph_is_built);
	tcase_add_test(tests, each_stream_has_traces_of_its_own);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
