/* Short visits: replayed only while their class is measured to gain, on a clock that moves by what
 * the driver's calls cost. An eager call costs 3900 ns. */
#include "../../suite.h"
#include "base/clock.h"
#include "base/tuning.h"
#include "program.h"

#define VISITS 20000u
#define TRY (REPRISE_TUNE_CLASS_COLD + REPRISE_TUNE_CLASS_TRIED) /* visits */
#define DEAR 8000  /* for a graph launch: more than an eager call */
#define CHEAP 1000 /* less */

static void begin_with(const char *pays)
{
	const char *options[] = {"REPRISE_SMALLEST=1", pays, NULL};

	program_begins_with(options);
	driver.quiet = true;
}

static void begin(void)
{
	begin_with("REPRISE_PAYS=measured");
}

/* The program makes these calls so often, with the number of the visit as the value where they have
 * "%u". Returns how many graphs were launched. */
static unsigned int launches_in(unsigned int visits, const char *words)
{
	static unsigned int visit;
	unsigned int before = driver.launches;

	for (unsigned int i = 0; i < visits; i++, visit++) {
		calls_with(words, visit);
		graphs_are_built();
	}
	return driver.launches - before;
}

/* One op; two; of new values each time. */
static const char *const short_visits[] = {"a |", "a b |", "a%u |"};

START_TEST(where_launches_are_dearer_hardly_any_is_made)
{
	unsigned int ops = _i == 1 ? 2 : 1;
	uint64_t began, eager;

	driver.graph_ns = (unsigned int)DEAR * ops;
	began = reprise_clock_virtual;
	ck_assert_uint_le(launches_in(VISITS, short_visits[_i]), 7 * TRY);
	/* The loss in all is less than 1 %. */
	eager = VISITS * (ops * driver.eager_ns + (ops + 1) * PROGRAM_GAP_NS);
	ck_assert_uint_le(reprise_clock_virtual - began, eager + eager / 100);
	ck_assert_uint_gt(counted()->short_eager, 1000);
	ck_assert_uint_gt(counted()->short_not_built, 0);
	ck_assert_uint_gt(counted()->backed_off, 0); /* nor is it watched for ever */
}
END_TEST

/* Watching costs more than such a loop could gain. */
START_TEST(where_no_class_gains_the_lane_backs_off_soon)
{
	driver.graph_ns = 4 * DEAR;
	watches_up_to(1);
	launches_in(3000, short_visits[_i]);
	ck_assert_uint_eq(counted()->backed_off, REPRISE_TUNE_BACKOFF_LEAST);
}
END_TEST

/* An op in eight that is worth no graph: the others are, and the lane goes on watching. */
START_TEST(beside_a_class_that_does_not_gain_longer_visits_go_on)
{
	driver.graph_ns = DEAR;
	watches_up_to(1);
	launches_in(1000, "x | a b c d e f g |");
	ck_assert_uint_ge(launches_in(20000, "x | a b c d e f g |"), 20000);
	ck_assert_uint_eq(counted()->backed_off, 0);
	ck_assert_uint_gt(counted()->short_eager, 10000);
}
END_TEST

/* Three in eight are replayed, and save more than it costs to watch the others. */
START_TEST(beside_many_that_do_not_gain_longer_visits_go_on_too)
{
	static const char rounds[] = "k | l | m | n | o | p | q | r | s | t | a b c d e f |";

	driver.graph_ns = DEAR;
	watches_up_to(1);
	launches_in(1000, rounds);
	ck_assert_uint_ge(launches_in(5000, rounds), 5000);
	ck_assert_uint_eq(counted()->backed_off, 0);
}
END_TEST

/* Sequences that have no graph, since their class rests, are visits of it: the rest ends. */
START_TEST(a_class_rests_for_sequences_without_a_graph_too)
{
	unsigned int visits = 0;

	driver.graph_ns = 4 * DEAR;
	watches_up_to(1);
	launches_in(4000, "a |");
	driver.graph_ns = CHEAP;
	while (launches_in(100, "b |") < 90 && visits < 100000)
		visits += 100;
	ck_assert_uint_le(visits, 20000);
}
END_TEST

START_TEST(where_launches_are_cheaper_nearly_all_are_made)
{
	driver.graph_ns = CHEAP;
	launches_in(500, short_visits[_i]);
	ck_assert_uint_ge(launches_in(VISITS, short_visits[_i]), VISITS * 98 / 100);
}
END_TEST

START_TEST(where_patches_are_dearer_only_what_needs_none_is_replayed)
{
	driver.graph_ns = CHEAP;
	driver.node_ns = driver.update_ns = DEAR;
	launches_in(1000, "a%u |");
	ck_assert_uint_le(launches_in(VISITS, "a%u |"), 7 * TRY);
	launches_in(VISITS, "b |"); /* the lane has backed off */
	ck_assert_uint_ge(launches_in(1000, "b |"), 980);
}
END_TEST

START_TEST(what_becomes_cheaper_later_is_replayed_then_and_left_when_it_is_dear_again)
{
	unsigned int visits = 0;

	driver.graph_ns = DEAR;
	launches_in(4000, "a |");
	driver.graph_ns = CHEAP;
	while (launches_in(100, "a |") < 90 && visits < 100000)
		visits += 100;
	ck_assert_uint_le(visits, 2 * 4000);
	launches_in(1000, "a |");
	driver.graph_ns = DEAR;
	ck_assert_uint_le(launches_in(VISITS, "a |"), 200);
}
END_TEST

/* Eager calls are timed now and then while the class gains. */
START_TEST(what_becomes_cheaper_eagerly_is_left)
{
	driver.graph_ns = 2 * CHEAP;
	launches_in(1000, "a |");
	driver.eager_ns = CHEAP / 2;
	launches_in(10 * REPRISE_TUNE_CLASS_EAGER, "a |");
	ck_assert_uint_le(launches_in(VISITS, "a |"), 300);
}
END_TEST

/* Longer visits come between, so that the lane is watched all the time. */
START_TEST(no_graphs_are_built_of_what_does_not_gain)
{
	uint64_t built;

	driver.graph_ns = DEAR;
	watches_up_to(1);
	launches_in(500, "x | a b c d e f g |");
	built = counted()->traces;
	for (unsigned int round = 0; round < 50; round++)
		for (unsigned int visit = 0; visit < 20; visit++)
			calls_with("x%u | a b c d e f g |", round); /* each would have been worth a graph */
	ck_assert_uint_eq(counted()->backed_off, 0);
	ck_assert_uint_le(counted()->traces, built + 2 * REPRISE_TUNE_CLASS_BUILDS);
}
END_TEST

START_TEST(longer_visits_go_on_as_ever)
{
	driver.graph_ns = DEAR;
	launches_in(100, "a b c d |");
	ck_assert_uint_eq(launches_in(1000, "a b c d |"), 1000);
	ck_assert_uint_eq(counted()->short_eager, 0);
	ck_assert_uint_eq(counted()->short_not_built, 0);
}
END_TEST

/* Those that the launch thread would make are measured by the program's thread before. */
START_TEST(nothing_is_left_to_the_launch_thread_before_it_is_known_to_gain)
{
	const char *options[] = {"REPRISE_SMALLEST=1", "REPRISE_SUBMIT=always", NULL};

	program_begins_with(options);
	driver.quiet = true;
	driver.graph_ns = DEAR;
	for (unsigned int visit = 0; visit < 2000; visit++) {
		calls("a |");
		graphs_are_built();
	}
	ck_assert_uint_eq(counted()->launches, driver.launches);
	ck_assert_uint_gt(driver.launches, 0);
	ck_assert_uint_le(driver.launches, 7 * TRY);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_async_launches), 0);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_launches_forced), 0);
}
END_TEST

START_TEST(where_it_is_assumed_to_pay_all_are_replayed)
{
	begin_with("REPRISE_PAYS=assumed");
	driver.graph_ns = DEAR;
	launches_in(100, short_visits[_i]);
	ck_assert_uint_eq(launches_in(1000, short_visits[_i]), 1000);
	ck_assert_uint_eq(counted()->short_eager, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("short visits");
	TCase *measured = tcase_create("measured"), *other = tcase_create("other options");

	tcase_set_timeout(measured, 60);
	tcase_add_checked_fixture(measured, begin, NULL);
	tcase_add_loop_test(measured, where_launches_are_dearer_hardly_any_is_made, 0, 3);
	tcase_add_loop_test(measured, where_no_class_gains_the_lane_backs_off_soon, 0, 3);
	tcase_add_test(measured, beside_a_class_that_does_not_gain_longer_visits_go_on);
	tcase_add_test(measured, beside_many_that_do_not_gain_longer_visits_go_on_too);
	tcase_add_test(measured, a_class_rests_for_sequences_without_a_graph_too);
	tcase_add_loop_test(measured, where_launches_are_cheaper_nearly_all_are_made, 0, 3);
	tcase_add_test(measured, where_patches_are_dearer_only_what_needs_none_is_replayed);
	tcase_add_test(measured,
	               what_becomes_cheaper_later_is_replayed_then_and_left_when_it_is_dear_again);
	tcase_add_test(measured, what_becomes_cheaper_eagerly_is_left);
	tcase_add_test(measured, no_graphs_are_built_of_what_does_not_gain);
	tcase_add_test(measured, longer_visits_go_on_as_ever);
	tcase_add_test(other, nothing_is_left_to_the_launch_thread_before_it_is_known_to_gain);
	tcase_add_loop_test(other, where_it_is_assumed_to_pay_all_are_replayed, 0, 3);
	suite_add_tcase(suite, measured);
	suite_add_tcase(suite, other);
	return run_suite(suite);
}
