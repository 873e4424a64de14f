/* When the hold thread looks seldom, and for how long ops may be late by that. */
#include "../../suite.h"
#include "base/tuning.h"
#include "workers/steady.h"

#define US UINT64_C(1000)
#define LIMIT (400 * US)
#define DUE (250 * US)
#define TIMES REPRISE_TUNE_HOLD_SELDOM
#define STEADY ((uint64_t)REPRISE_TUNE_HOLD_STEADY_NS)

static struct reprise_steady steady;
static uint64_t now;

static void setup(void)
{
	now = 12345678;
	steady = (struct reprise_steady){.looked_ns = now};
}

static bool is_seldom(void)
{
	return reprise_steady_times(&steady) > 1;
}

/* The thread looks each `ns`, for so long. Returns how often. */
static unsigned int looks(uint64_t each, uint64_t ns, bool held)
{
	uint64_t end = now + ns;
	unsigned int count = 0;

	for (; now + each <= end; count++) {
		now += each;
		reprise_steady_note(&steady, now, DUE, held);
	}
	return count;
}

static void is_seldom_after(uint64_t each, uint64_t ns)
{
	looks(each, ns - each, true);
	ck_assert(!is_seldom());
	looks(each, 2 * each, true);
	ck_assert(is_seldom());
}

START_TEST(a_steady_loop_is_looked_at_seldom)
{
	is_seldom_after(DUE, STEADY);
	ck_assert_uint_eq(reprise_steady_times(&steady), TIMES);
	looks(TIMES * DUE, 10 * STEADY, true);
	ck_assert(is_seldom());
}
END_TEST

/* What counts is the time, not the looks: a lock that is not free, or a call, brings many. */
START_TEST(looks_that_come_early_count_for_less)
{
	is_seldom_after(DUE / 8, STEADY);
}
END_TEST

/* The thread has slept meanwhile. */
START_TEST(a_look_counts_for_the_usual_time_at_most)
{
	uint64_t most = STEADY / DUE;

	ck_assert_uint_eq(looks(STEADY, (most - 1) * STEADY, true), most - 1);
	ck_assert(!is_seldom());
	looks(STEADY, STEADY, true);
	ck_assert(is_seldom());
}
END_TEST

START_TEST(looks_without_deferred_ops_say_nothing)
{
	looks(DUE, 10 * STEADY, false);
	ck_assert(!is_seldom());
	looks(DUE, STEADY / 2, true);
	looks(DUE, 10 * STEADY, false);
	ck_assert(!is_seldom());
	is_seldom_after(DUE, STEADY / 2);
	looks(DUE, 10 * STEADY, false);
	ck_assert(is_seldom());
}
END_TEST

START_TEST(what_is_found_ends_it)
{
	looks(DUE, STEADY, true);
	ck_assert(is_seldom());
	reprise_steady_end(&steady, now);
	ck_assert(!is_seldom());
	is_seldom_after(DUE, STEADY);
}
END_TEST

START_TEST(what_is_found_before_counts_too)
{
	looks(DUE, STEADY - 2 * DUE, true);
	reprise_steady_end(&steady, now);
	is_seldom_after(DUE, STEADY);
}
END_TEST

/* Ops that are deferred before looks are seldom have been promised the usual limit. */
START_TEST(the_limit_is_that_of_when_they_were_deferred)
{
	uint64_t from, until;

	looks(DUE, STEADY, true);
	from = now;
	ck_assert_uint_eq(reprise_steady_due(&steady, from - 1, DUE), DUE);
	ck_assert_uint_eq(reprise_steady_limit(&steady, from - 1, LIMIT), LIMIT);
	ck_assert_uint_eq(reprise_steady_due(&steady, from, DUE), TIMES * DUE);
	ck_assert_uint_eq(reprise_steady_limit(&steady, from, LIMIT), TIMES * LIMIT);
	looks(TIMES * DUE, STEADY, true);
	until = now;
	reprise_steady_end(&steady, until);
	ck_assert_uint_eq(reprise_steady_due(&steady, until - 1, DUE), DUE);
	ck_assert_uint_eq(reprise_steady_limit(&steady, until - 1, LIMIT), TIMES * LIMIT);
	ck_assert_uint_eq(reprise_steady_due(&steady, until, DUE), DUE);
	ck_assert_uint_eq(reprise_steady_limit(&steady, until, LIMIT), LIMIT);
	ck_assert_uint_eq(reprise_steady_limit(&steady, from - 1, LIMIT), LIMIT);
}
END_TEST

/* A quarter of the looks, but for the first of them. */
START_TEST(a_minute_has_so_many_looks)
{
	uint64_t minute = now + 60000000 * US;
	unsigned int count = 0;

	for (; now < minute; count++)
		looks(reprise_steady_due(&steady, now, DUE), reprise_steady_due(&steady, now, DUE), true);
	ck_assert_uint_ge(count, 60 * 1000000 / 250 / TIMES);
	ck_assert_uint_le(count, 60 * 1000000 / 250 / TIMES + STEADY / DUE);
}
END_TEST

/* At worst the op behind each look that has become seldom is late. Turns may lose as much. */
START_TEST(little_is_lost)
{
	uint64_t begin = now, lost = 0;

	while (now < begin + 60000000 * US) {
		looks(DUE, DUE, true);
		if (!is_seldom())
			continue;
		now += TIMES * LIMIT;
		lost += (TIMES - 1) * LIMIT;
		reprise_steady_end(&steady, now);
	}
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_le(lost, (now - begin) / REPRISE_TUNE_TURNS_SHARE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("steady holds");
	TCase *tests = tcase_create("steady holds");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_steady_loop_is_looked_at_seldom);
	tcase_add_test(tests, looks_that_come_early_count_for_less);
	tcase_add_test(tests, a_look_counts_for_the_usual_time_at_most);
	tcase_add_test(tests, looks_without_deferred_ops_say_nothing);
	tcase_add_test(tests, what_is_found_ends_it);
	tcase_add_test(tests, what_is_found_before_counts_too);
	tcase_add_test(tests, the_limit_is_that_of_when_they_were_deferred);
	tcase_add_test(tests, a_minute_has_so_many_looks);
	tcase_add_test(tests, little_is_lost);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
