/* A visit that ends before its last op: what the driver gets instead, and what is followed
 * afterwards. */
#include "../../suite.h"
#include "base/tuning.h"
#include "program.h"

START_TEST(what_is_deferred_is_issued_in_order)
{
	learns("a1 b2 M3 d e |", "[a1 b2 M3 d e]");
	CALLS_ARE_SEEN_AS("a1 b2 M3 d", "");
	CALLS_ARE_SEEN_AS("x", "(a1) (b2) (M3) (d) x");
	ck_assert_uint_eq(EXITS(guard), 1);
	ck_assert_uint_eq(EXITED(guard), 4);
	CALLS_ARE_SEEN_AS("|", "");
}
END_TEST

START_TEST(by_a_wait)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b |", "(a) (b)");
	ck_assert_uint_eq(EXITS(barrier), 1);
	ck_assert_uint_eq(EXITED(barrier), 2);
	CALLS_ARE_SEEN_AS("| c d |", "c d");
}
END_TEST

START_TEST(by_a_call_that_orders_the_stream)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b c /", "(a) (b) (c)");
	CALLS_ARE_SEEN_AS("d |", "d");
	ck_assert_uint_eq(EXITS(barrier), 1);
}
END_TEST

/* An event orders streams: outside a group, what comes before it is issued. */
START_TEST(by_an_event)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b >e c d |", "(a) (b) >e c d");
	CALLS_ARE_SEEN_AS("a b c d >e |", "[a b c d] >e");
	ck_assert_uint_eq(EXITED(barrier), 2);
}
END_TEST

/* The first launch of a kernel loads it, which may wait for all work of all streams. */
START_TEST(by_the_first_launch_of_a_kernel)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b 2:x c d |", "2:x [a b c d]");
	CALLS_ARE_SEEN_AS("a b 2:z c d |", "(a) (b) 2:z c d");
	CALLS_ARE_SEEN_AS("a b 2:z c d |", "2:z [a b c d]");
}
END_TEST

START_TEST(another_stream_keeps_what_it_holds)
{
	learns("a b c d |", "[a b c d]");
	learns("2:a 2:b 2:c 2:d |", "2:[a b c d]");
	CALLS_ARE_SEEN_AS("a b 2:a 2:b c 2:x", "2:(a) 2:(b) 2:x");
	CALLS_ARE_SEEN_AS("d", "[a b c d]");
}
END_TEST

/* The first op of a visit may have been the only one. */
START_TEST(nothing_is_issued_twice)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a |", "(a)");
	CALLS_ARE_SEEN_AS("| / |", "");
	CALLS_ARE_SEEN_AS("a x a b c d |", "(a) x a b c d");
	ck_assert_uint_eq(EXITS(barrier) + EXITS(guard), 2);
}
END_TEST

/* ---- afterwards ---- */

START_TEST(the_trace_is_followed_again)
{
	learns("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a b x |", "(a) (b) x");
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
	CALLS_ARE_SEEN_AS("a |", "(a)");
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
}
END_TEST

/* The call at which a trace is left may begin another. */
START_TEST(another_trace_begins_at_once)
{
	learns("a b c d |", "[a b c d]");
	learns("a b / x y z |", "(a) (b) [x y z]");
	CALLS_ARE_SEEN_AS("a b / x y", "(a) (b)");
	CALLS_ARE_SEEN_AS("z", "[x y z]");
}
END_TEST

/* What side exits issue is watched as if it had been eager: what comes instead becomes a trace,
 * long before the one that is left goes into its cooldown. */
START_TEST(what_comes_instead_is_learnt)
{
	learns("a b c d |", "[a b c d]");
	for (unsigned int visit = 0; visit < REPRISE_TUNE_TRUST_MOST; visit++)
		calls("a b c d |");
	for (unsigned int visit = 0; visit < 3; visit++) {
		CALLS_ARE_SEEN_AS("a b x y |", "(a) (b) x y");
		graphs_are_built();
	}
	CALLS_ARE_SEEN_AS("a b x y |", "[a b x y]");
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
}
END_TEST

/* ---- cooldown ---- */

/* Visits that end early, until the trace is not entered any more; how many it takes. */
static unsigned int left_until_cooldown(void)
{
	unsigned int visits = 0;
	const char *seen;

	do {
		driver_saw();
		calls("a b |");
		seen = driver_saw();
		visits++;
	} while (seen[0] == '(' && visits < 100);
	return visits;
}

/* The ops until the trace is entered again. */
static uint64_t ops_until_entered(void)
{
	uint64_t begin = counted()->ops;

	do {
		driver_saw();
		calls("a b |");
	} while (driver_saw()[0] != '(' && counted()->ops < begin + 10000);
	return counted()->ops - begin;
}

START_TEST(side_exits_end_in_a_cooldown)
{
	learns("a b c d |", "[a b c d]");
	ck_assert_uint_le(left_until_cooldown(), 5);
	CALLS_ARE_SEEN_AS("a b c d |", "a b c d");
}
END_TEST

/* Four replays make good for one side exit. */
START_TEST(replays_put_it_off)
{
	learns("a b c d |", "[a b c d]");
	for (unsigned int visit = 0; visit < 50; visit++) {
		CALLS_ARE_SEEN_AS("a b |", "(a) (b)");
		for (unsigned int replay = 0; replay < 4; replay++)
			CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
	}
}
END_TEST

START_TEST(a_cooldown_is_twice_as_long_each_time)
{
	uint64_t last = REPRISE_TUNE_COOLDOWN_FIRST;

	learns("a b c d |", "[a b c d]");
	left_until_cooldown();
	for (unsigned int cooldown = 0; cooldown < 3; cooldown++) {
		uint64_t ops = ops_until_entered();

		ck_assert_uint_ge(ops, last - 4);
		ck_assert_uint_le(ops, last + 4);
		last *= 2;
		left_until_cooldown();
	}
}
END_TEST

START_TEST(after_it_the_trace_is_replayed)
{
	learns("a b c d |", "[a b c d]");
	left_until_cooldown();
	ops_until_entered();
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_cooldown_returns), 1);
}
END_TEST

/* The values may belong to another site: that is no reproach to the trace. */
START_TEST(value_misses_are_no_reason)
{
	learns("a b c d |", "[a b c d]");
	learns("a b c1 d |", "[a b c1 d]");
	for (unsigned int visit = 0; visit < 20; visit++) {
		CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
		CALLS_ARE_SEEN_AS("a b c1 d |", "[a b c1 d]");
	}
	ck_assert_uint_eq(EXITS(guard), 0);
}
END_TEST

/* ---- errors ---- */

START_TEST(an_error_does_not_stop_the_others)
{
	learns("a b c d |", "[a b c d]");
	driver.refuses = 'b';
	CALLS_ARE_SEEN_AS("a b c x |", "(a) (b)! (c) x");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_errors_kept), 1);
	driver.refuses = '\0';
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_errors_kept), 1);
}
END_TEST

START_TEST(a_graph_that_is_not_launched_is_issued)
{
	uint64_t launches;

	learns("a b c d |", "[a b c d]");
	launches = counted()->launches;
	driver.refuses_launches = 1;
	CALLS_ARE_SEEN_AS("a b c d |", "(a) (b) (c) (d)");
	ck_assert_uint_eq(EXITS(launch), 1);
	ck_assert_uint_eq(EXITED(launch), 4);
	ck_assert_uint_eq(counted()->launches, launches);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_rebuilds), 1);
	graphs_are_built();
	CALLS_ARE_SEEN_AS("a b c d |", "a b c d"); /* it may fail again */
	ops_until_entered();
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("side exit");
	TCase *tests = tcase_create("side exit");

	tcase_add_checked_fixture(tests, program_begins, NULL);
	tcase_add_test(tests, what_is_deferred_is_issued_in_order);
	tcase_add_test(tests, by_a_wait);
	tcase_add_test(tests, by_a_call_that_orders_the_stream);
	tcase_add_test(tests, by_an_event);
	tcase_add_test(tests, by_the_first_launch_of_a_kernel);
	tcase_add_test(tests, another_stream_keeps_what_it_holds);
	tcase_add_test(tests, nothing_is_issued_twice);
	tcase_add_test(tests, the_trace_is_followed_again);
	tcase_add_test(tests, another_trace_begins_at_once);
	tcase_add_test(tests, what_comes_instead_is_learnt);
	tcase_add_test(tests, side_exits_end_in_a_cooldown);
	tcase_add_test(tests, replays_put_it_off);
	tcase_add_test(tests, a_cooldown_is_twice_as_long_each_time);
	tcase_add_test(tests, after_it_the_trace_is_replayed);
	tcase_add_test(tests, value_misses_are_no_reason);
	tcase_add_test(tests, an_error_does_not_stop_the_others);
	tcase_add_test(tests, a_graph_that_is_not_launched_is_issued);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
