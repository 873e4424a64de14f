/* A counter that goes back, or begins anew: no duration is longer than what has passed. */
#include "../../suite.h"
#include "base/clock.h"

#define BEGIN 1000000000u

static void setup(void)
{
	reprise_clock_virtual = BEGIN;
	reprise_clock_start();
}

START_TEST(a_duration_is_never_negative)
{
	ck_assert_uint_eq(reprise_clock_elapsed(7, 9), 2);
	ck_assert_uint_eq(reprise_clock_elapsed(9, 7), 0);
	ck_assert_uint_eq(reprise_clock_since(BEGIN + 1), 0);
}
END_TEST

START_TEST(time_before_the_start_is_the_start)
{
	reprise_clock_virtual = 2 * BEGIN;
	ck_assert_uint_eq(reprise_clock_steady_ns(BEGIN + 5), 5);
	ck_assert_uint_eq(reprise_clock_steady_ns(5), 0);
}
END_TEST

START_TEST(a_counter_that_begins_anew_has_a_rate)
{
	reprise_clock_virtual = 5;
	ck_assert_uint_eq(reprise_clock_ticks_to_ns(1000), 1000);
	ck_assert_uint_eq(reprise_clock_ns_to_ticks(1000), 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clock");
	TCase *tests = tcase_create("clock");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_duration_is_never_negative);
	tcase_add_test(tests, time_before_the_start_is_the_start);
	tcase_add_test(tests, a_counter_that_begins_anew_has_a_rate);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
