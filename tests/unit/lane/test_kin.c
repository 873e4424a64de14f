/* Programs whose sizes change: how many graphs are built of sequences that come a few times each.
 * An eager call costs 3900 ns, four of them 15600, and building a graph of four nodes is taken to
 * cost 16000. */
#include "../../suite.h"
#include "base/tuning.h"
#include "program.h"

#define SETS 200
#define FEW 6      /* visits of each: enough to be found */
#define DEAR 14900 /* a graph launch: it saves so little that building costs as much as 16 save */
#define CHEAP 1000

static void begin_with(const char *pays)
{
	const char *options[] = {"REPRISE_SMALLEST=4", pays, NULL};

	program_begins_with(options);
	watches_up_to(1);
	driver.quiet = true;
}

static void begin(void)
{
	begin_with("REPRISE_PAYS=measured");
}

/* Four memsets, whose sizes are those of this set, come so many times. */
static void comes(unsigned int set, unsigned int times)
{
	char words[] = "A A A A |";

	for (unsigned int i = 0; i < 4; i++, set /= 5)
		words[2 * i] = (char)('A' + 5 * i + set % 5);
	for (unsigned int i = 0; i < times; i++) {
		calls(words);
		graphs_are_built();
	}
}

/* The same of sets `first` to `last`. Returns how many graphs were built. */
static uint64_t built_of(unsigned int first, unsigned int last, unsigned int times)
{
	uint64_t before = counted()->traces;

	for (unsigned int set = first; set < last; set++)
		comes(set, times);
	return counted()->traces - before;
}

START_TEST(a_kin_that_saves_little_has_few_graphs)
{
	uint64_t built;

	driver.graph_ns = DEAR;
	built = built_of(0, SETS, FEW);
	ck_assert_uint_gt(built, REPRISE_TUNE_KIN_FREE);
	ck_assert_uint_lt(built, SETS * 2 / 3);
	ck_assert_uint_gt(counted()->kin_not_built, 0);
}
END_TEST

START_TEST(a_kin_that_saves_much_has_a_graph_for_each)
{
	driver.graph_ns = CHEAP;
	ck_assert_uint_ge(built_of(0, SETS, FEW), SETS);
	ck_assert_uint_eq(counted()->kin_not_built, 0);
}
END_TEST

START_TEST(replays_pay_for_further_ones)
{
	driver.graph_ns = DEAR;
	ck_assert_uint_ge(built_of(0, SETS, 10 * FEW), SETS);
}
END_TEST

/* However much was saved before: what comes then is little. */
START_TEST(what_was_saved_long_ago_pays_for_some)
{
	driver.graph_ns = DEAR;
	comes(0, 10000);
	ck_assert_uint_lt(built_of(1, SETS, FEW), SETS * 2 / 3);
}
END_TEST

START_TEST(where_it_is_assumed_to_pay_each_has_one)
{
	begin_with("REPRISE_PAYS=assumed");
	driver.graph_ns = DEAR;
	ck_assert_uint_ge(built_of(0, SETS, FEW), SETS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kin of a lane");
	TCase *measured = tcase_create("measured"), *other = tcase_create("other options");

	tcase_set_timeout(measured, 60);
	tcase_add_checked_fixture(measured, begin, NULL);
	tcase_add_test(measured, a_kin_that_saves_little_has_few_graphs);
	tcase_add_test(measured, a_kin_that_saves_much_has_a_graph_for_each);
	tcase_add_test(measured, replays_pay_for_further_ones);
	tcase_add_test(measured, what_was_saved_long_ago_pays_for_some);
	tcase_add_test(other, where_it_is_assumed_to_pay_each_has_one);
	suite_add_tcase(suite, measured);
	suite_add_tcase(suite, other);
	return run_suite(suite);
}
