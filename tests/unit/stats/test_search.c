/* How long a loop is looked for, on a clock of its own. */
#include "../../suite.h"
#include "base/tuning.h"
#include "stats/search.h"

#define MS UINT64_C(1000000)
#define FIRST (uint64_t) REPRISE_TUNE_SEARCH_FIRST_NS

static struct reprise_search search;
static uint64_t now;

static void setup(void)
{
	search = (struct reprise_search){0};
	now = 1;
}

/* Searches, a millisecond at a time, until a pause begins. Returns how long that took; *pause: how
 * long it is. */
static uint64_t searches(uint64_t *pause)
{
	uint64_t began = now;

	while ((*pause = reprise_search_goes_on(&search, now)) == 0)
		now += MS;
	return now - began;
}

START_TEST(pauses_are_twice_as_long_each_time)
{
	uint64_t pause, all = 0;

	for (unsigned int i = 0; i < REPRISE_TUNE_SEARCH_DOUBLED + 3; i++) {
		uint64_t took = searches(&pause);

		ck_assert_uint_eq(took, i == 0 ? FIRST : FIRST / 2);
		ck_assert_uint_eq(pause,
		                  FIRST << (i < REPRISE_TUNE_SEARCH_DOUBLED ? i
		                                                            : REPRISE_TUNE_SEARCH_DOUBLED));
		now += pause;
		all += took;
	}
	ck_assert_uint_eq(search.all_ns, all);
}
END_TEST

/* A loop that is found, and lost before it had a verdict, begins no new account. */
START_TEST(searches_add_up_until_there_is_a_verdict)
{
	uint64_t pause;

	for (unsigned int i = 0; i < 9; i++) {
		ck_assert_uint_eq(reprise_search_goes_on(&search, now), 0);
		now += FIRST / 10;
		ck_assert_uint_eq(reprise_search_goes_on(&search, now), 0);
		reprise_search_ends(&search);
		now += 10 * FIRST; /* it is measured meanwhile */
	}
	ck_assert_uint_eq(searches(&pause), FIRST / 10);
	reprise_search_succeeds(&search);
	ck_assert_uint_eq(searches(&pause), FIRST);
	ck_assert_uint_eq(pause, FIRST);
}
END_TEST

START_TEST(a_time_without_ops_hardly_counts)
{
	uint64_t pause;

	ck_assert_uint_eq(reprise_search_goes_on(&search, now), 0);
	now += 100 * FIRST;
	ck_assert_uint_eq(reprise_search_goes_on(&search, now), 0);
	ck_assert_uint_eq(searches(&pause), FIRST - REPRISE_TUNE_SEARCH_GAP_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("search");
	TCase *tests = tcase_create("search");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, pauses_are_twice_as_long_each_time);
	tcase_add_test(tests, searches_add_up_until_there_is_a_verdict);
	tcase_add_test(tests, a_time_without_ops_hardly_counts);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
