/* Ops over time, on a clock that the test moves. */
#include <pthread.h>

#include "../../suite.h"
#include "base/clock.h"
#include "stats/counters.h"
#include "stats/series.h"

#define FIRST_NS 10000000u

static struct reprise_series series;
static uint64_t unseen_ops; /* in eager rests, by all threads */

uint64_t reprise_counted(enum reprise_counter counter)
{
	return counter == REPRISE_COUNT_unseen_ops ? unseen_ops : 0;
}

static void note(uint64_t at_ns, uint64_t ops, uint64_t replayed)
{
	reprise_clock_virtual = at_ns;
	ck_assert(reprise_series_note(ops, replayed));
	ck_assert(reprise_series_read(&series));
}

static void begin(void)
{
	reprise_clock_virtual = unseen_ops = 0;
	reprise_series_begin();
}

static uint64_t sum(const uint64_t *values)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < REPRISE_SERIES_MOST; i++)
		all += values[i];
	return all;
}

START_TEST(what_no_lane_has_seen_is_noted_with_the_next_ops)
{
	note(FIRST_NS / 2, 7, 3);
	unseen_ops = 100;
	note(FIRST_NS * 3 / 2, 0, 0);
	unseen_ops = 130;
	note(FIRST_NS * 5 / 2, 1, 0);
	note(FIRST_NS * 5 / 2, 1, 0);
	ck_assert_uint_eq(series.ops[0], 7);
	ck_assert_uint_eq(series.ops[1], 100);
	ck_assert_uint_eq(series.ops[2], 32);
	ck_assert_uint_eq(sum(series.replayed), 3);
}
END_TEST

START_TEST(ops_fall_into_the_interval_that_it_is)
{
	note(FIRST_NS / 2, 7, 3);
	note(FIRST_NS * 5 / 2, 11, 10);
	ck_assert_uint_eq(series.count, 3);
	ck_assert_uint_eq(series.ops[0], 7);
	ck_assert_uint_eq(series.ops[1], 0);
	ck_assert_uint_eq(series.replayed[2], 10);
}
END_TEST

START_TEST(intervals_double_when_they_do_not_reach)
{
	for (unsigned int i = 0; i < REPRISE_SERIES_MOST; i++)
		note(FIRST_NS * i, 1, 0);
	ck_assert_uint_eq(series.interval_ns, FIRST_NS);
	note((uint64_t)FIRST_NS * REPRISE_SERIES_MOST, 1, 1);
	ck_assert_uint_eq(series.interval_ns, 2 * FIRST_NS);
	ck_assert_uint_eq(series.count, REPRISE_SERIES_MOST / 2 + 1);
	ck_assert_uint_eq(series.ops[0], 2);
	ck_assert_uint_eq(series.ops[REPRISE_SERIES_MOST / 2], 1);
	ck_assert_uint_eq(series.replayed[REPRISE_SERIES_MOST / 2], 1);
}
END_TEST

START_TEST(nothing_is_lost_in_a_run_of_any_length)
{
	uint64_t at = 0;

	for (unsigned int i = 1; i <= 40; i++)
		note(at += (uint64_t)FIRST_NS << (i / 2), i, 1);
	ck_assert_uint_eq(sum(series.ops), 40 * 41 / 2);
	ck_assert_uint_eq(sum(series.replayed), 40);
	ck_assert_uint_le(series.count, REPRISE_SERIES_MOST);
	ck_assert_uint_eq(series.ops[series.count - 1] > 0, true);
}
END_TEST

/* Returns how often it was noted. */
static void *note_often(void *unused)
{
	uintptr_t noted = 0;

	for (unsigned int i = 0; i < 1000; i++)
		noted += reprise_series_note(1, 1);
	return (void *)noted;
}

START_TEST(several_threads_note)
{
	pthread_t thread;
	void *others;
	uintptr_t noted;

	reprise_clock_virtual = (uint64_t)FIRST_NS * REPRISE_SERIES_MOST *
	                        4; /* whoever comes first doubles the intervals */
	ck_assert_int_eq(pthread_create(&thread, NULL, note_often, NULL), 0);
	noted = (uintptr_t)note_often(NULL);
	ck_assert_int_eq(pthread_join(thread, &others), 0);
	ck_assert(reprise_series_read(&series));
	ck_assert_uint_eq(sum(series.ops), noted + (uintptr_t)others);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report series");
	TCase *tests = tcase_create("series");

	tcase_add_checked_fixture(tests, begin, NULL);
	tcase_add_test(tests, what_no_lane_has_seen_is_noted_with_the_next_ops);
	tcase_add_test(tests, ops_fall_into_the_interval_that_it_is);
	tcase_add_test(tests, intervals_double_when_they_do_not_reach);
	tcase_add_test(tests, nothing_is_lost_in_a_run_of_any_length);
	tcase_add_test(tests, several_threads_note);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
