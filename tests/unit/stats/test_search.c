/* How long a loop is looked for, on a clock of its own. */
#include "../../suite.h"
#include "base/tuning.h"
#include "stats/search.h"

#define US UINT64_C(1000)
#define OPS 16        /* between two times that it is told */
#define NS (320 * US) /* for these */
#define FIRST ((uint64_t)REPRISE_TUNE_SEARCH_OPS / OPS * NS)

static struct reprise_search search;
static uint64_t now;

static void setup(void)
{
	search = (struct reprise_search){0};
	now = 1;
}

/* Searches until a pause begins, with ops that take so long. Returns how many ops there were;
 * *pause: how long it is. */
static uint64_t searches(uint64_t ns, uint64_t *pause)
{
	uint64_t ops = 0;

	do {
		now += ns;
		ops += OPS;
	} while ((*pause = reprise_search_goes_on(&search, OPS, now)) == 0);
	return ops;
}

START_TEST(pauses_are_twice_as_long_each_time)
{
	uint64_t pause, wanted = FIRST - NS, all = 0;

	for (unsigned int i = 0; i < 9; i++) {
		uint64_t ops = searches(NS, &pause);

		ck_assert_uint_eq(ops, i == 0 ? REPRISE_TUNE_SEARCH_OPS : REPRISE_TUNE_SEARCH_OPS / 2);
		ck_assert_uint_eq(pause, wanted);
		now += pause;
		all += ops / OPS * NS - NS; /* the first time that it is told begins it */
		wanted = 2 * wanted < REPRISE_TUNE_SEARCH_LONGEST_NS ? 2 * wanted
		                                                     : REPRISE_TUNE_SEARCH_LONGEST_NS;
	}
	ck_assert_uint_eq(pause, REPRISE_TUNE_SEARCH_LONGEST_NS);
	ck_assert_uint_eq(search.all_ns, all);
}
END_TEST

/* Looking costs so much for an op: where ops are rare, it costs next to nothing. */
START_TEST(it_is_ops_that_count)
{
	uint64_t pause;

	ck_assert_uint_eq(searches(100 * NS, &pause), REPRISE_TUNE_SEARCH_OPS);
	setup();
	ck_assert_uint_gt(searches(US, &pause), REPRISE_TUNE_SEARCH_OPS);
	ck_assert_uint_eq(pause, REPRISE_TUNE_SEARCH_LEAST_NS);
}
END_TEST

/* A loop that is found, and lost before it had a verdict, begins no new account. */
START_TEST(searches_add_up_until_there_is_a_verdict)
{
	uint64_t pause;

	for (unsigned int i = 0; i < 9; i++) {
		ck_assert_uint_eq(reprise_search_goes_on(&search, REPRISE_TUNE_SEARCH_OPS / 16, now), 0);
		reprise_search_interrupt(&search);
		now += 10 * FIRST; /* it is measured meanwhile */
	}
	ck_assert_uint_eq(searches(NS, &pause),
	                  REPRISE_TUNE_SEARCH_OPS - REPRISE_TUNE_SEARCH_OPS / 16 * 9);
	ck_assert_uint_lt(pause, FIRST);
	reprise_search_succeeds(&search);
	ck_assert_uint_eq(searches(NS, &pause), REPRISE_TUNE_SEARCH_OPS);
	ck_assert_uint_eq(pause, FIRST - NS);
}
END_TEST

START_TEST(a_time_without_ops_hardly_counts)
{
	ck_assert_uint_eq(reprise_search_goes_on(&search, OPS, now), 0);
	now += 100 * FIRST;
	ck_assert_uint_eq(reprise_search_goes_on(&search, OPS, now), 0);
	ck_assert_uint_eq(search.all_ns, REPRISE_TUNE_SEARCH_GAP_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("search");
	TCase *tests = tcase_create("search");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, pauses_are_twice_as_long_each_time);
	tcase_add_test(tests, it_is_ops_that_count);
	tcase_add_test(tests, searches_add_up_until_there_is_a_verdict);
	tcase_add_test(tests, a_time_without_ops_hardly_counts);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
