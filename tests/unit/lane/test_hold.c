/* No op stays deferred for longer than the hold limit, 400 us unless set: it is issued after five
 * eighths of that. The clock moves only as the test says. */
#include "../../suite.h"
#include "base/clock.h"
#include "graph/building.h"
#include "lane/hold.h"
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
