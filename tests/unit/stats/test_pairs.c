/* The interval of a ratio, looked at after every pair: how often it is wrong, whatever the noise.
 */
#include <stdlib.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "noise.h"
#include "stats/pairs.h"

#define SEEDS 2000

static struct reprise_pairs pairs;

START_TEST(a_logarithm_is_right)
{
	for (uint64_t value = 1; value < UINT64_C(1) << 60; value = value * 3 / 2 + 1) {
		double log2_of = log2((double)value) * (1 << REPRISE_LOG2_BITS);

		ck_assert_double_eq_tol(reprise_log2(value), log2_of, 1.5);
	}
	for (unsigned int part = 20; part < 100000; part = part * 9 / 8 + 1)
		ck_assert_uint_eq(reprise_thousandths(reprise_log2_of_thousandths(part)), part);
}
END_TEST

/* log2 of the bets against a median with k of n pairs on one side, from its closed form. */
static double bets(unsigned int n, unsigned int k)
{
	double natural =
		lgamma(k + 0.5) + lgamma(n - k + 0.5) - lgamma(n + 1.0) - log(3.14159265358979);

	return n + natural / log(2);
}

START_TEST(the_interval_has_the_bounds_of_its_formula)
{
	reprise_pairs_begin(&pairs);
	for (unsigned int n = 1; n <= REPRISE_PAIRS_MOST; n++) {
		int outside = -1;

		reprise_pairs_add(&pairs, 1000 + n, 1000);
		while (bets(n, (unsigned int)(outside + 1)) >= log2(REPRISE_TUNE_PAIRS_ODDS) &&
		       2 * (outside + 2) <= (int)n)
			outside++;
		ck_assert_int_eq(pairs.outside, outside);
	}
	reprise_pairs_add(&pairs, 1, 1);
	ck_assert_uint_eq(pairs.count, REPRISE_PAIRS_MOST);
}
END_TEST

START_TEST(eight_pairs_that_agree_bound_it)
{
	reprise_pairs_begin(&pairs);
	for (unsigned int i = 0; i < 8; i++) {
		ck_assert(!reprise_pairs_read(&pairs).bounded);
		reprise_pairs_add(&pairs, 1300 + i, 1000);
	}
	ck_assert(reprise_pairs_read(&pairs).bounded);
	ck_assert_uint_eq(reprise_thousandths(reprise_pairs_read(&pairs).low), 1300);
	ck_assert_uint_eq(reprise_thousandths(reprise_pairs_read(&pairs).high), 1307);
	ck_assert_int_eq(reprise_pairs_surplus(&pairs), 8);
}
END_TEST

START_TEST(half_of_the_pairs_have_their_median)
{
	for (unsigned int count = 1; count <= REPRISE_PAIRS_MOST; count++) {
		int32_t before, step = reprise_log2_of_thousandths(1010);

		reprise_pairs_begin(&pairs);
		for (unsigned int i = 0; i < count; i++)
			reprise_pairs_add(&pairs, (uint64_t)(1e9 * pow(1.01, i)), 1000000);
		before = reprise_pairs_read(&pairs).median;
		reprise_pairs_halve(&pairs);
		ck_assert_uint_ge(pairs.count, count / 2);
		ck_assert_uint_le(pairs.count, (count + 1) / 2);
		if (pairs.count > 0)
			ck_assert_int_le(abs(reprise_pairs_read(&pairs).median - before), step);
	}
}
END_TEST

/* Those of another measurement are all there, however many there were before. */
START_TEST(earlier_pairs_make_room)
{
	static struct reprise_pairs others;

	for (unsigned int before = 0; before <= REPRISE_PAIRS_MOST; before += 32) {
		for (unsigned int more = 32; more <= REPRISE_PAIRS_MOST; more += 32) {
			unsigned int high = 0;

			reprise_pairs_begin(&pairs);
			reprise_pairs_begin(&others);
			for (unsigned int i = 0; i < before; i++)
				reprise_pairs_add(&pairs, 1000, 1000);
			for (unsigned int i = 0; i < more; i++)
				reprise_pairs_add(&others, 2000, 1000);
			reprise_pairs_join(&pairs, &others);
			for (unsigned int i = 0; i < pairs.count; i++)
				high += pairs.ratios[i] > 0;
			ck_assert_uint_eq(high, more);
			if (before + more <= REPRISE_PAIRS_MOST)
				ck_assert_uint_eq(pairs.count, before + more);
			else if (more <= REPRISE_PAIRS_MOST / 2)
				ck_assert_uint_ge(pairs.count, more + before / 2);
		}
	}
}
END_TEST

/* By the standard error that is asked for, of pairs of so much noise, so many are needed. */
static const struct {
	double spread;
	unsigned int least, most;
} roughs[] = {{0.01, 4, 9}, {0.05, 30, 90}, {0.1, 120, 256}};

START_TEST(so_many_pairs_are_rough)
{
	struct noise noise = {777, roughs[_i].spread, 0};
	int32_t error = reprise_log2_of_thousandths(1010);
	unsigned int needed = 0;

	reprise_pairs_begin(&pairs);
	ck_assert(reprise_pairs_are_rough(&pairs, error));
	for (unsigned int i = 1; i <= REPRISE_PAIRS_MOST; i++) {
		reprise_pairs_add(&pairs, noise_period(&noise, 1e9), noise_period(&noise, 1e9));
		if (i < 4 || reprise_pairs_are_rough(&pairs, error))
			needed = i + 1;
	}
	ck_assert_uint_ge(needed, roughs[_i].least);
	ck_assert_uint_le(needed, roughs[_i].most);
}
END_TEST

/* True if the interval missed the ratio at any of its looks. */
static bool misses(uint64_t seed, double ratio, double spread, double stalls)
{
	struct noise noise = {seed * 2654435761u + 1, spread, stalls};
	int32_t is = (int32_t)lround(log2(ratio) * (1 << REPRISE_LOG2_BITS));

	reprise_pairs_begin(&pairs);
	for (unsigned int i = 0; i < REPRISE_PAIRS_MOST; i++) {
		uint64_t eager = noise_period(&noise, 1e7 * ratio), replay = noise_period(&noise, 1e7);

		reprise_pairs_add(&pairs, eager, replay);

		struct reprise_interval interval = reprise_pairs_read(&pairs);

		if (interval.bounded && (interval.low > is || interval.high < is))
			return true;
	}
	return false;
}

static const struct {
	double ratio, spread, stalls;
} noises[] = {{1, 0.01, 0}, {1, 0.4, 0.01}, {1.3, 0.4, 0.1}, {0.7, 1, 0.3}};

START_TEST(it_misses_the_ratio_as_seldom_as_promised)
{
	unsigned int missed = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		missed += misses(seed, noises[_i].ratio, noises[_i].spread, noises[_i].stalls);
	/* one in PAIRS_ODDS, and three standard deviations */
	ck_assert_uint_le(missed, SEEDS / REPRISE_TUNE_PAIRS_ODDS + 19);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pairs");
	TCase *tests = tcase_create("pairs");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_logarithm_is_right);
	tcase_add_test(tests, the_interval_has_the_bounds_of_its_formula);
	tcase_add_test(tests, eight_pairs_that_agree_bound_it);
	tcase_add_test(tests, half_of_the_pairs_have_their_median);
	tcase_add_test(tests, earlier_pairs_make_room);
	tcase_add_loop_test(tests, so_many_pairs_are_rough, 0, sizeof(roughs) / sizeof(*roughs));
	tcase_add_loop_test(tests, it_misses_the_ratio_as_seldom_as_promised, 0,
	                    sizeof(noises) / sizeof(*noises));
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
