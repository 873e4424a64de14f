/* An op that is not what the trace expects: whether the visit goes on, and with which values. */
#include <stdio.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "graph/capture_lock.h"
#include "lane/follow.h"
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
	reprise_context_sync_begin((CUcontext)1); /* waits for ever where a capture counts as open */
	reprise_context_sync_end((CUcontext)1);
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

/* Two traces, a visit of the first that goes another way, and what the driver gets of it. The
 * second is gone on with where the op that came is its own: another op than the first one's, in any
 * case, brought to the values of this visit; other values, only if all values agree. */
static const struct {
	const char *first, *second, *visit, *seen;
} ways[] = {
	{"a1 b c d", "a1 b x y", "a1 b x y", "[a1 b x y]"},
	{"a1 b c d", "a1 b x1 y", "a1 b x1 y", "[a1 b x1 y]"},
	{"a1 b c d", "a1 b x1 y", "a1 b x2 y", "(a1) (b) x2 y"},
	{"a1 b1 c d", "a1 b2 x y", "a1 b1 x y", "[a1 b1 x y]"},
	{"a1 b1 c d", "a1 b2 x y", "a1 b2 x y", "[a1 b2 x y]"},
	{"a1 b1 c d", "a1 b2 x1 y", "a1 b1 x2 y", "(a1) (b1) x2 y"},
	{"a1 b c1 d", "a1 b c2 d", "a1 b c2 d", "[a1 b c2 d]"},
	{"a1 b c1 d", "a1 b c2 d", "a1 b c3 d", "(a1) (b) c3 d"},
	{"a1 b c1 d1 e", "a1 b c2 d2 e", "a1 b c1 d2 e", "(a1) (b) (c1) d2 e"},
	{"a1 b c d", "a1 b x y", "a1 b z y", "(a1) (b) z y"},
	{"a1 b c d", "a1 x c d", "a1 b x d", "(a1) (b) x d"},
};

START_TEST(a_visit_goes_another_way)
{
	char learnt[64], graph[64], visit[64];

	for (unsigned int i = 0; i < 2; i++) {
		const char *words = i == 0 ? ways[_i].second : ways[_i].first;

		snprintf(learnt, sizeof(learnt), "%s |", words);
		snprintf(graph, sizeof(graph), "[%s]", words);
		learns(learnt, graph);
	}
	calls(learnt); /* the first one was followed last */
	snprintf(visit, sizeof(visit), "%s |", ways[_i].visit);
	CALLS_ARE_SEEN_AS(visit, ways[_i].seen);
	CALLS_ARE_SEEN_AS(learnt, graph);
}
END_TEST

/* Two values by turns, and the graph of the second is not built yet: no trace is for any value. */
START_TEST(a_trace_that_is_coming_is_waited_for)
{
	const struct reprise_trace *trace;

	learns("a b c1 d |", "[a b c1 d]");
	trace = lane_of(1)->index->newest;
	while (lane_of(1)->index->count < 2)
		calls("a b c2 d |");
	for (unsigned int visit = 0; visit < 100; visit++)
		calls("a b c2 d |");
	ck_assert(!trace->any_value[2]);
	ck_assert_uint_lt(trace->value_misses, REPRISE_TUNE_VALUE_MISSES_MOST);
	graphs_are_built();
	CALLS_ARE_SEEN_AS("a b c1 d |", "[a b c1 d]");
	CALLS_ARE_SEEN_AS("a b c2 d |", "[a b c2 d]");
	ck_assert_uint_eq(counted()->patched, 0);
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

START_TEST(an_op_that_is_left_out_leaves_the_trace)
{
	learns("a b c d e f |", "[a b c d e f]");
	CALLS_ARE_SEEN_AS("a b d e f |", "(a) (b) d e f");
	ck_assert_uint_eq(EXITS(guard), 1);
	ck_assert_uint_eq(counted()->exited[REPRISE_EXIT_guard], 2);
}
END_TEST

START_TEST(what_is_often_left_out_gets_a_trace_without_it)
{
	learns("a b c d e f |", "[a b c d e f]");
	for (unsigned int visit = 0; visit < 200; visit++) {
		calls(visit % 2 == 0 ? "a b d e f |" : "a b c d e f |");
		graphs_are_built();
	}
	for (unsigned int visit = 0; visit < 10; visit++) {
		CALLS_ARE_SEEN_AS("a b d e f |", "[a b d e f]");
		CALLS_ARE_SEEN_AS("a b c d e f |", "[a b c d e f]");
	}
}
END_TEST

/* ---- a first op with other values ---- */

/* True if a visit that begins so is begun without a look for another trace. */
static bool begins_at_once(unsigned int value)
{
	uint32_t parameter = value;
	void *params[] = {&parameter};
	struct reprise_call call = {.stream = driver_stream(1),
	                            .kind = REPRISE_OP_KERNEL,
	                            .kernel = {.function = (CUfunction)(uintptr_t)'a',
	                                       .grid = {1, 1, 1},
	                                       .block = {1, 1, 1},
	                                       .params = params}};
	struct reprise_lane *lane = lane_of(1);
	bool begins;

	ck_assert_ptr_nonnull(lane->expected);
	reprise_lock_take(&lane->lock);
	begins = reprise_lane_enter_expected(lane, &call);
	if (begins) { /* it never was */
		reprise_trace_end_visit(lane->trace, false);
		lane->trace = NULL;
	}
	reprise_lock_give(&lane->lock);
	return begins;
}

static void learns_any_value_first(void)
{
	for (unsigned int visit = 1000; visit < 1100; visit++) {
		calls_with("a%u b c d |", visit);
		graphs_are_built();
	}
	driver_saw();
}

START_TEST(no_other_trace_is_looked_for_where_there_never_was_one)
{
	unsigned int at_once = 0;

	learns_any_value_first();
	lane_of(1)->expected->no_other = 0;
	for (unsigned int visit = 0; visit < REPRISE_TUNE_NO_OTHER; visit++) {
		ck_assert(!begins_at_once(2000));
		calls_with("a%u b c d |", 4000 + visit);
	}
	for (unsigned int visit = 0; visit < REPRISE_TUNE_NO_OTHER; visit++) {
		at_once += begins_at_once(6000 + visit);
		calls_with("a%u b c d |", 7000 + visit);
	}
	ck_assert_uint_eq(at_once, REPRISE_TUNE_NO_OTHER - 1);
	driver_saw();
	CALLS_ARE_SEEN_AS("a8000 b c d |", "[a8000 b c d]");
}
END_TEST

/* The first op is not told from the other sequence's: that goes on as its sibling. */
START_TEST(another_sequence_that_begins_with_the_op_has_its_own_graph)
{
	learns_any_value_first();
	learns("a7 e f g |", "[a7 e f g]");
	for (unsigned int visit = 2000; visit < 2100; visit++)
		calls_with("a%u b c d |", visit);
	driver_saw();
	CALLS_ARE_SEEN_AS("a7 e f g |", "[a7 e f g]");
	CALLS_ARE_SEEN_AS("a3000 b c d |", "[a3000 b c d]");
	CALLS_ARE_SEEN_AS("a7 e f g |", "[a7 e f g]");
}
END_TEST

/* ---- values that come again ---- */

#define ENOUGH 2000 /* visits until setting a node has cost more than a graph of four */

static void come_by_turns(const char *words, unsigned int values)
{
	for (unsigned int visit = 0; visit < ENOUGH; visit++) {
		calls_with(words, visit % values + 1);
		graphs_are_built();
	}
	driver_saw();
}

/* Once the op takes any value, no more of a cycle is seen by watching. */
START_TEST(values_that_come_again_get_graphs_of_their_own)
{
	unsigned int set;
	uint64_t patched;

	learns_any_value();
	come_by_turns("a b c%u d |", 5);
	set = driver.nodes_set;
	patched = counted()->patched;
	CALLS_ARE_SEEN_AS("a b c1 d |", "[a b c1 d]");
	CALLS_ARE_SEEN_AS("a b c4 d |", "[a b c4 d]");
	CALLS_ARE_SEEN_AS("a b c4 d |", "[a b c4 d]");
	CALLS_ARE_SEEN_AS("a b c5 d |", "[a b c5 d]");
	CALLS_ARE_SEEN_AS("a b c2 d |", "[a b c2 d]");
	ck_assert_uint_eq(driver.nodes_set, set);
	ck_assert_uint_eq(counted()->patched, patched);
	CALLS_ARE_SEEN_AS("a b c7 d |", "[a b c7 d]"); /* any other value */
	ck_assert_uint_eq(driver.nodes_set, set + 1);
	CALLS_ARE_SEEN_AS("a b c3 d |", "[a b c3 d]");
	ck_assert_uint_eq(driver.nodes_set, set + 1);
	ck_assert_uint_eq(EXITS(values), 0);
}
END_TEST

START_TEST(so_do_values_of_the_first_op)
{
	struct reprise_trace *trace;
	unsigned int set;

	learns_any_value_first();
	come_by_turns("a%u b c d |", 3);
	set = driver.nodes_set;
	CALLS_ARE_SEEN_AS("a3 b c d |", "[a3 b c d]");
	CALLS_ARE_SEEN_AS("a1 b c d |", "[a1 b c d]");
	CALLS_ARE_SEEN_AS("a2 b c d |", "[a2 b c d]");
	ck_assert_uint_eq(driver.nodes_set, set);
	CALLS_ARE_SEEN_AS("a9 b c d |", "[a9 b c d]");
	ck_assert_uint_eq(driver.nodes_set, set + 1);
	trace = lane_of(1)->last;
	ck_assert(trace->any_value[0]);
	trace->no_other = REPRISE_TUNE_NO_OTHER - 1;
	lane_of(1)->expected = trace;
	CALLS_ARE_SEEN_AS("a2 b c d |", "[a2 b c d]");
	ck_assert_uint_eq(trace->no_other, 0); /* another one was chosen */
}
END_TEST

START_TEST(values_that_never_come_again_get_none)
{
	uint64_t traces;

	learns_any_value();
	traces = counted()->traces;
	for (unsigned int visit = 3000; visit < 3000 + ENOUGH; visit++) {
		calls_with("a b c%u d |", visit);
		graphs_are_built();
	}
	ck_assert_uint_eq(counted()->traces, traces);
}
END_TEST

START_TEST(nor_do_more_values_than_are_remembered)
{
	uint64_t traces;

	learns_any_value();
	traces = counted()->traces;
	come_by_turns("a b c%u d |", REPRISE_RECURRING_VALUES + 1);
	ck_assert_uint_eq(counted()->traces, traces);
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
	tcase_add_loop_test(tests, a_visit_goes_another_way, 0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tests, a_trace_that_is_coming_is_waited_for);
	tcase_add_test(tests, the_only_sibling_returns_from_its_cooldown);
	tcase_add_test(tests, another_op_leaves_the_trace);
	tcase_add_test(tests, an_op_that_is_left_out_leaves_the_trace);
	tcase_add_test(tests, what_is_often_left_out_gets_a_trace_without_it);
	tcase_add_test(tests, no_other_trace_is_looked_for_where_there_never_was_one);
	tcase_add_test(tests, another_sequence_that_begins_with_the_op_has_its_own_graph);
	tcase_add_test(tests, values_that_come_again_get_graphs_of_their_own);
	tcase_add_test(tests, so_do_values_of_the_first_op);
	tcase_add_test(tests, values_that_never_come_again_get_none);
	tcase_add_test(tests, nor_do_more_values_than_are_remembered);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
