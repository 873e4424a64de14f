/* How much of the time building may take. */
#include "../../suite.h"
#include "base/tuning.h"
#include "workers/budget.h"

#define SECOND 1000000000u

static struct reprise_budget budget;
static bool gains; /* as measured */
static uint64_t now;

static void setup(void)
{
	now = 12345;
	gains = true;
	reprise_budget_begin(&budget, now);
}

/* Works as much as it may until `end`, in pieces of so many nanoseconds; returns how long it
 * worked. */
static uint64_t work_until(uint64_t end, uint64_t piece)
{
	uint64_t worked = 0;

	while (now < end) {
		uint64_t rest = reprise_budget_rest(&budget, now, gains);

		if (rest > 0) {
			now += rest;
			continue;
		}
		now += piece;
		worked += piece;
		reprise_budget_spend(&budget, piece);
	}
	return worked;
}

START_TEST(a_burst_is_spent_at_once)
{
	for (uint64_t spent = 0; spent < REPRISE_TUNE_BUDGET_BURST_NS; spent += 1000000) {
		ck_assert_uint_eq(reprise_budget_rest(&budget, now, gains), 0);
		reprise_budget_spend(&budget, 1000000);
	}
	ck_assert_uint_gt(reprise_budget_rest(&budget, now, gains), 0);
}
END_TEST

static const uint64_t pieces[] = {1000, 300000, 7000000, 200000000};

/* After the first second one nanosecond of so many. */
static void is_one_of(uint64_t share, uint64_t piece)
{
	work_until(now + 2 * SECOND, piece);

	uint64_t begin = now, worked = work_until(now + 60ull * SECOND, piece);

	/* One piece may be under way at each end. */
	ck_assert_uint_le(worked, (now - begin) / share + piece);
	ck_assert_uint_ge(worked + piece, (now - begin) / (share + 1));
}

START_TEST(after_the_first_second_it_is_two_per_cent)
{
	is_one_of(50, pieces[_i]);
}
END_TEST

/* Half a per cent, and the first second and the burst are as before. */
START_TEST(while_no_gain_is_measured_it_is_less)
{
	uint64_t first;

	gains = false;
	first = work_until(now + SECOND, 1000000);
	ck_assert_uint_ge(first, REPRISE_TUNE_BUDGET_BURST_NS + SECOND / 21);
	is_one_of(200, pieces[_i]);
	gains = true;
	is_one_of(50, pieces[_i]);
}
END_TEST

START_TEST(credit_does_not_grow_past_one_burst)
{
	now += 3600ull * SECOND;
	reprise_budget_rest(&budget, now, gains);

	uint64_t begin = now;

	ck_assert_uint_le(work_until(now + SECOND, 1000000),
	                  REPRISE_TUNE_BUDGET_BURST_NS + (now - begin) / 50 + 1000000);
}
END_TEST

/* As where the process was stopped while it built, or its machine. */
START_TEST(work_that_took_an_hour_is_paid_back_within_a_minute)
{
	now += 2ull * SECOND;
	reprise_budget_rest(&budget, now, gains);
	reprise_budget_spend(&budget, 3600ull * SECOND);
	now += 60ull * SECOND;
	ck_assert_uint_eq(reprise_budget_rest(&budget, now, gains), 0);
}
END_TEST

START_TEST(readings_close_together_lose_nothing)
{
	work_until(2 * SECOND, 1000000);
	reprise_budget_spend(&budget, 1000000);
	for (unsigned int i = 0; i < 200000000 / 7; i++)
		reprise_budget_rest(&budget, now += 7, gains);
	ck_assert_uint_eq(reprise_budget_rest(&budget, now, gains), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("budget");
	TCase *tests = tcase_create("budget");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_burst_is_spent_at_once);
	tcase_add_loop_test(tests, after_the_first_second_it_is_two_per_cent, 0, 4);
	tcase_add_loop_test(tests, while_no_gain_is_measured_it_is_less, 0, 4);
	tcase_add_test(tests, credit_does_not_grow_past_one_burst);
	tcase_add_test(tests, work_that_took_an_hour_is_paid_back_within_a_minute);
	tcase_add_test(tests, readings_close_together_lose_nothing);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
