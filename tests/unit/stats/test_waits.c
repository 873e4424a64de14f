/* How many waits make a period, of made-up distances between them. */
#include "../../suite.h"
#include "stats/waits.h"

#define ALIKE REPRISE_TUNE_ANCHOR_ALIKE
#define NS 300 /* an op */

static struct reprise_waits waits;
static uint64_t ops, ns;

static void setup(void)
{
	reprise_waits_begin(&waits);
	ops = 1000; /* of the lane, before */
	ns = 5000;
	reprise_waits_note(&waits, ops, ns);
}

static struct reprise_waits_period wait_comes(uint64_t distance, unsigned int more)
{
	ops += distance;
	ns += distance * NS;
	reprise_waits_note(&waits, ops, ns);
	return reprise_waits_find(&waits, more);
}

/* Waits come at these distances, in this order, until a period is found. Returns after how many. */
static unsigned int comes_after(const uint64_t *distances, unsigned int count, unsigned int more,
                                struct reprise_waits_period *period)
{
	unsigned int after = 0;

	do {
		*period = wait_comes(distances[after % count], more);
		after++;
	} while (period->waits == 0 && !reprise_waits_are_all(&waits));
	return after;
}

/* To a quarter, with what each of them took. */
START_TEST(waits_at_about_the_same_distance_are_periods)
{
	static const uint64_t distances[] = {100, 120, 90, 105, 115};
	struct reprise_waits_period period;

	ck_assert_uint_eq(comes_after(distances, 5, 0, &period), ALIKE + 1);
	ck_assert_uint_eq(period.waits, 1);
	ck_assert_uint_eq(period.periods, ALIKE + 1);
	ck_assert_uint_eq(period.ops, (ops - 1000) / (ALIKE + 1));
	ck_assert_uint_eq(period.least_ops, 90);
	ck_assert_uint_eq(period.ns, (ns - 5000) / (ALIKE + 1));
}
END_TEST

/* Sentences whose lengths come by turns. Of nine distances in a row some differ; some waits
 * together do not, to an eighth. All numbers of waits are tried on the same ones. */
START_TEST(as_few_as_have_about_as_many_ops_each_time_are_one)
{
	static const uint64_t distances[] = {91,  169, 91,  169, 91,  169, 91,
	                                     169, 169, 169, 91,  169, 175, 91};
	struct reprise_waits_period period;

	ck_assert_uint_le(comes_after(distances, 14, 0, &period), 5 * (ALIKE + 1));
	ck_assert_uint_gt(period.waits, 1);
	ck_assert_uint_le(period.waits, 5);
	ck_assert_uint_ge(period.least_ops, period.ops - period.ops / 8);
}
END_TEST

/* Where nothing else is a period, its order tells it, if it is long, once so many have come. */
START_TEST(an_order_that_comes_again_is_one)
{
	uint64_t distances[40];
	struct reprise_waits_period period;

	for (unsigned int i = 0; i < 40; i++)
		distances[i] = UINT64_C(16) << i % 20 * 2 / 3;
	ck_assert_uint_eq(comes_after(distances, 20, 0, &period), REPRISE_WAITS_MOST - 1);
	ck_assert_uint_eq(period.waits, 20);
	ck_assert_uint_eq(period.periods, 2 * REPRISE_TUNE_ANCHOR_ORDER_MOST / 20);
	ck_assert_uint_eq(period.least_ops, period.ops);
}
END_TEST

/* Layers of a step, which has more: of the step's waits, and of no fewer, though layers alone are
 * alike in any order. Two steps tell. */
START_TEST(more_waits_than_were_part_of_a_loop_come_again)
{
	uint64_t distances[40];
	struct reprise_waits_period period;

	for (unsigned int i = 0; i < 40; i++)
		distances[i] = i == 20 ? 1000 : 50;
	for (unsigned int more = 1; more < 4; more++) {
		setup();
		ck_assert_uint_le(comes_after(distances, 40, more, &period), 80);
		ck_assert_uint_eq(period.waits, 40);
		ck_assert_uint_eq(period.ops, 39 * 50 + 1000);
		ck_assert_uint_eq(period.periods, 2);
	}
}
END_TEST

/* Nor is what has about as many ops, or comes by chance. */
START_TEST(no_period_is_found_where_there_is_none)
{
	uint64_t random = 1, distance;

	while (!reprise_waits_are_all(&waits)) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		distance = 100 + (random >> 33) % 900;
		ck_assert_uint_eq(wait_comes(distance, 1).waits, 0);
	}
	ck_assert_uint_eq(wait_comes(100, 1).waits, 0); /* and none is noted any more */
	ck_assert_uint_eq(waits.count, REPRISE_WAITS_MOST);
}
END_TEST

/* A pause of the program's, and what it did before it: as if it had not been. */
START_TEST(what_is_left_out_is_in_no_period)
{
	struct reprise_waits_period period = {0};

	for (unsigned int i = 0; i < ALIKE + 1; i++) {
		ck_assert_uint_eq(period.waits, 0);
		if (i == 3) {
			ops += 777;
			ns += 1000000;
			reprise_waits_leave_out(&waits, 777, 1000000);
		}
		period = wait_comes(100, 0);
	}
	ck_assert_uint_eq(period.waits, 1);
	ck_assert_uint_eq(period.ops, 100);
	ck_assert_uint_eq(period.ns, 100 * NS);
}
END_TEST

/* The program may load something in one of them. */
START_TEST(one_long_time_weighs_little)
{
	struct reprise_waits_period period;

	do {
		if (waits.count == 3)
			ns += UINT64_C(1000000000);
		period = wait_comes(100, 0);
	} while (period.waits == 0);
	ck_assert_uint_lt(period.ns, 2 * 100 * NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waits");
	TCase *tests = tcase_create("waits");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, waits_at_about_the_same_distance_are_periods);
	tcase_add_test(tests, as_few_as_have_about_as_many_ops_each_time_are_one);
	tcase_add_test(tests, an_order_that_comes_again_is_one);
	tcase_add_test(tests, more_waits_than_were_part_of_a_loop_come_again);
	tcase_add_test(tests, no_period_is_found_where_there_is_none);
	tcase_add_test(tests, what_is_left_out_is_in_no_period);
	tcase_add_test(tests, one_long_time_weighs_little);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
