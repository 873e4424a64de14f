/* Which traces are made of what repeats: how long they are, what is noted of them, and when one
 * whose graph failed is built again. */
#include <stdio.h>
#include <string.h>

#include "../../suite.h"
#include "base/clock.h"
#include "base/ending.h"
#include "base/tuning.h"
#include "graph/build_queue.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "program.h"

/* ---- gaps ---- */

/* The ops of a loop with pauses before each: the one before the first op is no gap of the trace. */
static void calls_with_gaps(const uint32_t *gaps, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		char word[] = {(char)('a' + i), '\0'};

		reprise_clock_virtual += gaps[i] - PROGRAM_GAP_NS;
		calls(word);
	}
	calls("|");
}

START_TEST(a_trace_has_the_mean_of_the_gaps_between_its_ops)
{
	static const uint32_t gaps[] = {100000, 200, 400, 900};
	unsigned int count = (unsigned int)_i;
	uint64_t sum = 0;

	for (unsigned int i = 1; i < count; i++)
		sum += gaps[i];
	for (unsigned int visit = 0; visit < 10 && counted()->traces == 0; visit++)
		calls_with_gaps(gaps, count);
	ck_assert_uint_eq(lane_of(1)->index->newest->count, count);
	ck_assert_uint_eq(lane_of(1)->index->newest->gap_ns, count > 1 ? sum / (count - 1) : 0);
}
END_TEST

START_TEST(traces_behind_a_first_one_have_their_own)
{
	uint32_t gaps[12] = {100000, 200, 200, 200, 200, 200, 200, 200, 3000, 500, 600, 700};

	for (unsigned int visit = 0; visit < 10 && counted()->traces < 2; visit++)
		calls_with_gaps(gaps, 12);
	ck_assert_uint_eq(counted()->traces, 2);
	ck_assert_uint_eq(lane_of(1)->index->newest->count, 4);
	ck_assert_uint_eq(lane_of(1)->index->newest->gap_ns, 600);
	ck_assert_uint_eq(lane_of(1)->index->oldest->count, 8);
	ck_assert_uint_eq(lane_of(1)->index->oldest->gap_ns, 200);
}
END_TEST

/* ---- lengths ---- */

#define LOOP "a b c d e f g h i j k l m n o p q r s t u v w x A B C D |"
#define SHORT_FIRST "[a b c d e f g h i j k l m n o p q r s t u v w x] [A B C D]"
#define AT_ONCE "[a b c d e f g h i j k l m n o p q r s t u v w x A B C D]"

/* The driver serialises launches of several threads: fewer and longer ones, from so many lanes of
 * others on. Two lanes that this thread uses are none of others. */
static void loops_beside(unsigned int others, unsigned int own)
{
	watches_up_to(1 + others + own);
	for (unsigned int visit = 0; visit < 10; visit++) {
		for (unsigned int stream = 2; stream < 2 + others + own; stream++) {
			char word[] = {(char)('0' + stream), ':', 'y', '\0'};

			calls(word);
			if (stream < 2 + others)
				atomic_store(&lane_of(stream)->thread, reprise_thread_self() + 1);
		}
		calls(LOOP);
		graphs_are_built();
	}
	driver_saw();
	calls(LOOP);
}

START_TEST(beside_many_lanes_of_others_traces_are_long_at_once)
{
	bool many = _i >= REPRISE_TUNE_PLAN_CROWD;

	loops_beside((unsigned int)_i, 0);
	IS_SEEN(many ? AT_ONCE : SHORT_FIRST);
}
END_TEST

START_TEST(lanes_of_its_own_thread_are_no_crowd)
{
	loops_beside(1, 3);
	IS_SEEN(SHORT_FIRST);
}
END_TEST

/* A loop frees memory in stream order, and waits: what comes next is behind the wait all the same.
 */
START_TEST(behind_a_barrier_and_a_wait_the_first_is_short)
{
	learns("a b c d e f g h i j k l m n o p q r s t u v w x A B C D / |", SHORT_FIRST);
}
END_TEST

/* A barrier behind the wait changes nothing. */
START_TEST(so_it_is_where_a_barrier_follows)
{
	learns("/ a b c d e f g h i j k l m n o p q r s t u v w x A B C D / |", SHORT_FIRST);
}
END_TEST

START_TEST(behind_barriers_alone_it_is_long)
{
	for (unsigned int visit = 0; visit < 20; visit++) {
		driver_saw();
		calls("a b c d e f g h i j k l m n o p q r s t u v w x A B C D");
		reprise_lanes_barrier(false);
		reprise_lanes_barrier(false);
		graphs_are_built();
	}
	IS_SEEN(AT_ONCE);
}
END_TEST

/* ---- forks, and what is behind them ---- */

#define FORK "a >e 2:<e 2:b 2:>f c <f d"
#define FORK_OPS 8

/* So many ops come behind a fork, and what fills its graph: a few are in it; more have a graph of
 * their own. */
START_TEST(a_few_ops_behind_a_fork_are_in_its_graph)
{
	unsigned int rest = (unsigned int)_i, fills = REPRISE_TUNE_PLAN_FIRST - FORK_OPS, launches, ops;
	char words[256] = FORK;

	for (unsigned int i = 0; i < fills + rest; i++)
		strcat(words, (char[]){' ', i < 16 ? (char)('g' + i) : (char)('A' + i - 16), '\0'});
	strcat(words, " |");
	for (unsigned int visit = 0; visit < 40; visit++) {
		calls(words);
		graphs_are_built();
	}
	launches = driver.launches;
	ops = driver.ops;
	calls(words);
	ck_assert_uint_eq(driver.ops - ops, 0);
	ck_assert_uint_eq(driver.launches - launches, rest < REPRISE_TUNE_PLAN_REMAINDER_LEAST ? 1 : 2);
}
END_TEST

/* Not if the hold limit would cut that: the program pauses before the last of them. */
START_TEST(unless_that_would_be_held_for_too_long)
{
	unsigned int launches;

	for (unsigned int visit = 0; visit <= 40; visit++) {
		launches = driver.launches;
		calls(FORK " g h");
		reprise_clock_virtual += 100000;
		calls("i j k |");
		graphs_are_built();
	}
	ck_assert_uint_eq(driver.launches - launches, 2);
}
END_TEST

/* A graph of events alone would save nothing: there is none of what joins a fork without work, on
 * either stream or on both. */
static const char *const without_work[] = {">e 2:<e 2:>f <f", ">e 2:<e 2:>f <f >g 2:<g 2:>h <h",
                                           ">e >f >g"};

START_TEST(events_alone_make_no_graph)
{
	uint64_t traces;
	char words[64];

	learns(FORK " |", "[a >e b >f c d >_]");
	traces = reprise_lane_head(lane_of(1))->counts.traces;
	snprintf(words, sizeof(words), "%s |", without_work[_i]);
	for (unsigned int visit = 0; visit < 20; visit++) {
		calls(words);
		graphs_are_built();
	}
	CALLS_ARE_SEEN_AS(words, without_work[_i]);
	ck_assert_uint_eq(reprise_lane_head(lane_of(1))->counts.traces, traces);
	CALLS_ARE_SEEN_AS(FORK " |", "[a >e b >f c d >_]");
}
END_TEST

/* ---- graphs that fail ---- */

/* The builder takes a graph and gives it up. */
static bool fails(void)
{
	struct reprise_graph *graph = reprise_build_queue_take();

	if (graph == NULL)
		return false;
	atomic_store(&graph->state, REPRISE_GRAPH_FAILED);
	reprise_build_queue_finish();
	return true;
}

/* When its ops come again, and a cooldown is over that is twice as long each time. */
START_TEST(a_graph_that_failed_is_built_again_after_longer_and_longer)
{
	uint64_t asked = 0, ops = 4;

	watches_up_to(1);
	calls("a b c d | a b c d | a b c d |");
	ck_assert(fails());
	calls("a b c d |");
	ck_assert(fails());
	asked = counted()->ops;
	for (unsigned int time = 0; time < 5; time++) {
		uint64_t cooldown = (uint64_t)REPRISE_TUNE_COOLDOWN_FIRST << time;

		for (ops = 0; !fails(); ops += 4) {
			ck_assert_uint_le(ops, cooldown);
			calls("a b c d |");
		}
		ck_assert_uint_eq(ops, cooldown);
		asked = counted()->ops;
	}
	ck_assert_uint_eq(asked, counted()->ops);
	ck_assert_uint_eq(counted()->traces, 1);
}
END_TEST

START_TEST(a_graph_that_is_built_or_waits_is_not_asked_for_again)
{
	for (unsigned int visit = 0; visit < 100; visit++)
		calls("a b c d |");
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 1);
	ck_assert_uint_eq(counted()->traces, 1);
	graphs_are_built();
	for (unsigned int visit = 0; visit < 100; visit++)
		calls("a b c d | x |");
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, make");
	TCase *tests = tcase_create("make");

	tcase_add_checked_fixture(tests, program_begins, NULL);
	tcase_add_loop_test(tests, a_trace_has_the_mean_of_the_gaps_between_its_ops, 3, 5);
	tcase_add_test(tests, traces_behind_a_first_one_have_their_own);
	tcase_add_loop_test(tests, beside_many_lanes_of_others_traces_are_long_at_once, 0,
	                    REPRISE_TUNE_PLAN_CROWD + 2);
	tcase_add_test(tests, lanes_of_its_own_thread_are_no_crowd);
	tcase_add_test(tests, behind_a_barrier_and_a_wait_the_first_is_short);
	tcase_add_test(tests, so_it_is_where_a_barrier_follows);
	tcase_add_test(tests, behind_barriers_alone_it_is_long);
	tcase_add_loop_test(tests, a_few_ops_behind_a_fork_are_in_its_graph, 0,
	                    REPRISE_TUNE_PLAN_REMAINDER_LEAST + 3);
	tcase_add_test(tests, unless_that_would_be_held_for_too_long);
	tcase_add_loop_test(tests, events_alone_make_no_graph, 0,
	                    sizeof(without_work) / sizeof(without_work[0]));
	tcase_add_test(tests, a_graph_that_failed_is_built_again_after_longer_and_longer);
	tcase_add_test(tests, a_graph_that_is_built_or_waits_is_not_asked_for_again);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
