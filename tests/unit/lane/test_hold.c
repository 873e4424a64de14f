/* No op stays deferred for longer than the hold limit, 400 us unless set: it is issued after five
 * eighths of that. Unless it is set, both are four times as long where a loop is steady. The clock
 * moves only as the test says. */
#include "../../suite.h"
#include "base/clock.h"
#include "graph/building.h"
#include "base/tuning.h"
#include "lane/hold.h"
#include "workers/workers.h"
#include "../../virtual/threads.h"
#include "program.h"

#define US UINT64_C(1000)
#define LIMIT (400 * US)
#define DUE (250 * US)
#define PAUSE (125 * US) /* longer than any trace is planned for */

START_TEST(deferred_ops_are_issued_when_they_are_due)
{
	uint64_t begin;

	learns("a b c d |", "[a b c d]");
	calls("a b");
	begin = lane_of(1)->visit_since;
	time_passes(begin + DUE - 1 - reprise_clock_virtual);
	IS_SEEN("");
	time_passes(1);
	IS_SEEN("(a) (b)");
	ck_assert_uint_le(driver.given_ns, begin + LIMIT);
	ck_assert_uint_eq(counted()->exits[REPRISE_EXIT_hold], 1);
	ck_assert_uint_eq(counted()->exited[REPRISE_EXIT_hold], 2);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_hold_flushes), 1);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_hold_overruns), 0);
	CALLS_ARE_SEEN_AS("c d |", "c d");
}
END_TEST

/* It counts from the first deferred op, not from the last. */
START_TEST(a_slow_program_cannot_put_it_off)
{
	uint64_t begin;

	learns("a b c d e f |", "[a b c d e f]");
	calls("a");
	begin = lane_of(1)->visit_since;
	time_passes(100 * US);
	calls("b");
	time_passes(100 * US);
	CALLS_ARE_SEEN_AS("c", "");
	time_passes(begin + DUE - reprise_clock_virtual);
	IS_SEEN("(a) (b) (c)");
	CALLS_ARE_SEEN_AS("d e f |", "d e f");
}
END_TEST

START_TEST(a_visit_in_time_is_replayed)
{
	learns("a b c d |", "[a b c d]");
	calls("a b c");
	time_passes(DUE - US);
	CALLS_ARE_SEEN_AS("d", "[a b c d]");
	time_passes(10 * LIMIT);
	IS_SEEN("");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_hold_flushes), 0);
}
END_TEST

/* After a visit the next one has the whole limit. */
START_TEST(each_visit_has_the_limit_for_itself)
{
	learns("a b c d |", "[a b c d]");
	calls("a b");
	time_passes(DUE - 10 * US);
	CALLS_ARE_SEEN_AS("c d | a b c", "[a b c d]");
	time_passes(DUE - 10 * US);
	IS_SEEN("");
	time_passes(10 * US);
	IS_SEEN("(a) (b) (c)");
}
END_TEST

START_TEST(each_lane_has_a_limit_of_its_own)
{
	learns("a b c d |", "[a b c d]");
	learns("2:a 2:b 2:c 2:d |", "2:[a b c d]");
	calls("a b");
	time_passes(DUE / 2);
	calls("2:a 2:b 2:c");
	time_passes(DUE / 2);
	IS_SEEN("(a) (b)");
	time_passes(DUE / 2);
	IS_SEEN("2:(a) 2:(b) 2:(c)");
}
END_TEST

START_TEST(the_limit_is_an_option)
{
	static const char *const options[] = {"REPRISE_HOLD=1000", NULL};

	program_begins_with(options);
	learns("a b c d |", "[a b c d]");
	calls("a b");
	time_passes(624 * US);
	IS_SEEN("");
	time_passes(US);
	IS_SEEN("(a) (b)");
}
END_TEST

START_TEST(without_a_limit_nothing_is_deferred)
{
	static const char *const options[] = {"REPRISE_HOLD=0", "REPRISE_SMALLEST=1", NULL};

	program_begins_with(options);
	learns("a b c d |", "[a] [b] [c] [d]");
	CALLS_ARE_SEEN_AS("a", "[a]");
	CALLS_ARE_SEEN_AS("b", "[b]");
}
END_TEST

START_TEST(without_the_thread_nothing_is_deferred)
{
	program_begins();
	atomic_store(&reprise_hold_worker.state, REPRISE_WORKER_ABSENT);
	for (unsigned int visit = 0; visit < 20; visit++) {
		CALLS_ARE_SEEN_AS("a b c d |", "a b c d");
		graphs_are_built();
	}
	ck_assert_uint_gt(count_of(REPRISE_COUNT_threads_failed), 0);
	atomic_store(&reprise_hold_worker.state, REPRISE_WORKER_AWAKE);
	learns("a b c d |", "[a b c d]");
}
END_TEST

/* ---- pauses ---- */

/* The GPU is to have what comes before a pause that the program makes every time. */
START_TEST(a_trace_is_split_where_the_program_pauses)
{
	static const char *const options[] = {"REPRISE_PAYS=assumed", NULL}; /* of three ops, too */

	program_begins_with(options);
	learns("a b c d e f |", "[a b c d e f]");
	calls("a b c");
	time_passes(PAUSE + 2 * US);
	time_passes(10 * US);                          /* it is still the same pause */
	CALLS_ARE_SEEN_AS("d e f |", "[a b c d e f]"); /* once may be by chance */
	calls("a b c");
	time_passes(PAUSE + 2 * US);
	IS_SEEN("(a) (b) (c)");
	graphs_are_built();
	calls("d e f |");
	CALLS_ARE_SEEN_AS("a b c", "[a b c]");
	CALLS_ARE_SEEN_AS("d e f |", "[d e f]");
}
END_TEST

START_TEST(a_trace_is_not_split_for_pauses_at_other_ops)
{
	learns("a b c d e f |", "[a b c d e f]");
	for (unsigned int visit = 0; visit < 6; visit++) {
		calls(visit % 2 == 0 ? "a b" : "a b c d");
		time_passes(PAUSE + 2 * US);
		CALLS_ARE_SEEN_AS(visit % 2 == 0 ? "c d e f |" : "e f |", "[a b c d e f]");
	}
}
END_TEST

/* Replays in between make good for a pause. */
START_TEST(a_trace_is_not_split_for_rare_pauses)
{
	learns("a b c d e f |", "[a b c d e f]");
	for (unsigned int visit = 0; visit < 6; visit++) {
		calls("a b");
		time_passes(PAUSE + 2 * US);
		CALLS_ARE_SEEN_AS("c d e f |", "[a b c d e f]");
		for (unsigned int replay = 0; replay < 12; replay++)
			CALLS_ARE_SEEN_AS("a b c d e f |", "[a b c d e f]");
	}
}
END_TEST

START_TEST(shorter_pauses_do_not_count)
{
	learns("a b c d e f |", "[a b c d e f]");
	for (unsigned int visit = 0; visit < 6; visit++) {
		calls("a b");
		time_passes(PAUSE - 2 * US);
		CALLS_ARE_SEEN_AS("c d e f |", "[a b c d e f]");
	}
}
END_TEST

/* Five sixteenths of the limit, but longer than any trace is planned for. */
static const struct {
	const char *option;
	uint64_t pause;
} pauses[] = {
	{"REPRISE_HOLD=250", PAUSE},        {"REPRISE_HOLD=400", PAUSE},
	{"REPRISE_HOLD=404", PAUSE + 1250}, {"REPRISE_HOLD=1000", 312500},
	{"REPRISE_HOLD=10000", 3125 * US},
};

static const char *learns_with_limit(int row)
{
	const char *options[] = {pauses[row].option, NULL};

	program_begins_with(options);
	learns("a b c d e f |", "[a b c d e f]");
	return "a b c";
}

START_TEST(how_long_a_pause_is_depends_on_the_limit)
{
	calls(learns_with_limit(_i));
	for (unsigned int visit = 0; visit < 6; visit++) {
		time_passes(pauses[_i].pause - 2 * US);
		CALLS_ARE_SEEN_AS("d e f |", "[a b c d e f]");
		calls("a b c");
	}
	for (unsigned int visit = 0; visit < 2; visit++) {
		IS_SEEN("");
		time_passes(pauses[_i].pause + 2 * US);
		if (visit == 0)
			CALLS_ARE_SEEN_AS("d e f | a b c", "[a b c d e f]");
	}
	IS_SEEN("(a) (b) (c)");
}
END_TEST

/* ---- steady loops ---- */

#define SELDOM_DUE (REPRISE_TUNE_HOLD_SELDOM * DUE)
#define LONG (20 * LIMIT)

/* For so long visits take a tenth of the time that would be too long, and looks find nothing. */
static void loops_for(uint64_t ns)
{
	for (uint64_t end = reprise_clock_virtual + ns; reprise_clock_virtual < end;) {
		calls("a b c");
		time_passes(DUE / 10);
		calls("d |");
	}
	driver_saw();
}

static void loops_steadily(void)
{
	loops_for(REPRISE_TUNE_HOLD_STEADY_NS + LIMIT);
}

static void learns_and_loops(void)
{
	learns("a b c d |", "[a b c d]");
	loops_steadily();
}

/* The program pauses for good in the midst of a visit: after how long its ops are issued. */
static uint64_t issued_on(unsigned int stream, const char *words, const char *issued)
{
	uint64_t begin;

	calls(words);
	begin = lane_of(stream)->visit_since;
	time_passes(LONG);
	IS_SEEN(issued);
	return driver.given_ns - begin;
}

static uint64_t issued_after(void)
{
	uint64_t after = issued_on(1, "a b c", "(a) (b) (c)");

	calls("d |");
	driver_saw();
	return after;
}

/* What the driver takes for the calls is no part of it. */
static void is_about(uint64_t took, uint64_t expected)
{
	ck_assert_uint_ge(took, expected);
	ck_assert_uint_le(took, expected + 20 * US);
}

START_TEST(a_steady_loop_is_looked_at_seldom)
{
	learns_and_loops();
	is_about(issued_after(), SELDOM_DUE);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_hold_flushes), 1);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_hold_overruns), 0);
	ck_assert_uint_ge(count_of(REPRISE_COUNT_hold_begun_ns), SELDOM_DUE);
}
END_TEST

/* Of streams of their own: a trace that is late twice in a row is split. */
START_TEST(one_late_visit_ends_that)
{
	learns("2:a 2:b 2:c 2:d |", "2:[a b c d]");
	learns("3:a 3:b 3:c 3:d |", "3:[a b c d]");
	learns_and_loops();
	is_about(issued_after(), SELDOM_DUE);
	is_about(issued_on(2, "2:a 2:b 2:c", "2:(a) 2:(b) 2:(c)"), DUE);
	loops_for(REPRISE_TUNE_HOLD_STEADY_NS / 2);
	is_about(issued_on(3, "3:a 3:b 3:c", "3:(a) 3:(b) 3:(c)"), DUE);
	loops_steadily();
	is_about(issued_after(), SELDOM_DUE);
}
END_TEST

START_TEST(one_pause_ends_that)
{
	learns_and_loops();
	calls("a b c");
	time_passes(PAUSE + 2 * US);
	CALLS_ARE_SEEN_AS("d |", "[a b c d]");
	is_about(issued_after(), DUE);
}
END_TEST

START_TEST(another_lane_ends_that)
{
	learns("2:a 2:b 2:c 2:d |", "2:[a b c d]");
	learns_and_loops();
	calls("2:a 2:b");
	time_passes(LONG);
	IS_SEEN("2:(a) 2:(b)");
	is_about(issued_after(), DUE);
}
END_TEST

START_TEST(who_sets_the_limit_means_it)
{
	static const char *const options[] = {"REPRISE_HOLD=400", NULL};

	program_begins_with(options);
	learns_and_loops();
	is_about(issued_after(), DUE);
}
END_TEST

START_TEST(a_loop_that_defers_nothing_is_not_steady)
{
	learns("a b c d |", "[a b c d]");
	for (unsigned int i = 0; i < 4000; i++)
		time_passes(100 * US);
	is_about(issued_after(), DUE);
}
END_TEST

START_TEST(a_lane_that_is_wanted_is_served_at_once)
{
	learns_and_loops();
	calls("a b c");
	reprise_hold_want(lane_of(1));
	time_passes(0);
	IS_SEEN("(a) (b) (c)");
	calls("d |");
	driver_saw();
	is_about(issued_after(), SELDOM_DUE);
}
END_TEST

/* It is the thread that is late. */
START_TEST(an_overrun_is_beyond_the_limit_in_force)
{
	learns_and_loops();
	calls("a b c");
	reprise_clock_virtual += 3 * LIMIT;
	time_passes(0);
	IS_SEEN("(a) (b) (c)");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_hold_overruns), 0);
	calls("d | a b c");
	driver_saw();
	reprise_clock_virtual += 3 * LIMIT;
	time_passes(0);
	IS_SEEN("(a) (b) (c)");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_hold_overruns), 1);
}
END_TEST

START_TEST(a_child_begins_anew)
{
	learns_and_loops();
	reprise_hold_reset();
	threads_are_there();
	is_about(issued_after(), DUE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hold limit");
	TCase *standard = tcase_create("standard"), *other = tcase_create("other options");

	tcase_add_checked_fixture(standard, program_begins, NULL);
	tcase_add_test(standard, deferred_ops_are_issued_when_they_are_due);
	tcase_add_test(standard, a_slow_program_cannot_put_it_off);
	tcase_add_test(standard, a_visit_in_time_is_replayed);
	tcase_add_test(standard, each_visit_has_the_limit_for_itself);
	tcase_add_test(standard, each_lane_has_a_limit_of_its_own);
	tcase_add_test(standard, a_trace_is_not_split_for_pauses_at_other_ops);
	tcase_add_test(standard, a_trace_is_not_split_for_rare_pauses);
	tcase_add_test(standard, shorter_pauses_do_not_count);
	tcase_add_test(standard, a_steady_loop_is_looked_at_seldom);
	tcase_add_test(standard, one_late_visit_ends_that);
	tcase_add_test(standard, one_pause_ends_that);
	tcase_add_test(standard, another_lane_ends_that);
	tcase_add_test(standard, a_loop_that_defers_nothing_is_not_steady);
	tcase_add_test(standard, a_lane_that_is_wanted_is_served_at_once);
	tcase_add_test(standard, an_overrun_is_beyond_the_limit_in_force);
	tcase_add_test(standard, a_child_begins_anew);
	tcase_add_test(other, who_sets_the_limit_means_it);
	tcase_add_test(other, a_trace_is_split_where_the_program_pauses);
	tcase_add_test(other, the_limit_is_an_option);
	tcase_add_test(other, without_a_limit_nothing_is_deferred);
	tcase_add_test(other, without_the_thread_nothing_is_deferred);
	tcase_add_loop_test(other, how_long_a_pause_is_depends_on_the_limit, 0,
	                    sizeof(pauses) / sizeof(pauses[0]));
	suite_add_tcase(suite, standard);
	suite_add_tcase(suite, other);
	return run_suite(suite);
}
