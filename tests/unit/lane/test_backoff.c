/* A lane in which nothing repeats is watched less and less, and comes back when something does. */
#include <string.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "lane/registry.h"
#include "program.h"

#define LOOP 4 /* ops of the loop that comes later */

/* So many calls: kernels in no order, each with a value that never came before. */
static void calls_new(uint64_t count)
{
	static uint32_t random = 1, value;

	for (uint64_t i = 0; i < count; i++) {
		char word[16] = "";

		random = random * 1664525 + 1013904223;
		word[0] = (char)('a' + (random >> 16) % 20);
		strcat(word, "%u");
		calls_with(word, ++value);
	}
}

static void setup(void)
{
	program_begins();
	driver.quiet = true;
}

/* Ops of the loop until the driver gets it as a graph; `most` if it does not. */
static uint64_t ops_until_replayed(uint64_t most)
{
	unsigned int launches = driver.launches;
	uint64_t ops = 0;

	for (; ops < most && driver.launches == launches; ops += LOOP) {
		calls("u v w x |");
		graphs_are_built();
	}
	return ops;
}

START_TEST(it_backs_off_when_nothing_repeats)
{
	calls_new(REPRISE_TUNE_BACKOFF_AFTER - 1);
	ck_assert_uint_eq(counted()->backed_off, 0);
	calls_new(1);
	ck_assert_uint_eq(counted()->backed_off, REPRISE_TUNE_BACKOFF_LEAST);
}
END_TEST

START_TEST(each_time_for_twice_as_long)
{
	uint64_t span = REPRISE_TUNE_BACKOFF_LEAST, all = span;

	calls_new(REPRISE_TUNE_BACKOFF_AFTER + 1);
	while (span < REPRISE_TUNE_BACKOFF_MOST) {
		calls_new(span + REPRISE_TUNE_BACKOFF_WATCHED - 2);
		ck_assert_uint_eq(counted()->backed_off, all);
		calls_new(2);
		span *= 2;
		all += span;
		ck_assert_uint_eq(counted()->backed_off, all);
	}
	calls_new(span + REPRISE_TUNE_BACKOFF_WATCHED);
	ck_assert_uint_eq(counted()->backed_off, all + span); /* no longer than that */
}
END_TEST

/* Backed off or not, each is the driver's at its own call. */
START_TEST(the_driver_gets_all_ops)
{
	for (unsigned int ops = 100; ops <= 40000; ops += 100) {
		reprise_lanes_look_again(); /* so that the next call looks for its lane */
		calls_new(100);
		ck_assert_uint_eq(driver.ops, ops);
		/* those of a backoff are counted when it begins */
		ck_assert_uint_eq(counted()->ops - atomic_load(&lane_of(1)->backoff_ops), ops);
	}
	ck_assert_uint_gt(counted()->backed_off, 0);
	ck_assert_uint_eq(counted()->replayed, 0);
}
END_TEST

START_TEST(what_repeats_in_a_backoff_is_not_seen)
{
	calls_new(REPRISE_TUNE_BACKOFF_AFTER + 1);
	ck_assert_uint_gt(ops_until_replayed(REPRISE_TUNE_BACKOFF_LEAST - 1000),
	                  REPRISE_TUNE_BACKOFF_LEAST - 1000 - LOOP);
	ck_assert_uint_eq(counted()->traces, 0);
}
END_TEST

START_TEST(it_comes_back)
{
	uint64_t backed_off;

	calls_new(REPRISE_TUNE_BACKOFF_AFTER + REPRISE_TUNE_BACKOFF_LEAST +
	          REPRISE_TUNE_BACKOFF_WATCHED + 1);
	backed_off = counted()->backed_off;
	ck_assert_uint_eq(backed_off, 3 * REPRISE_TUNE_BACKOFF_LEAST);
	ck_assert_uint_le(ops_until_replayed(100000),
	                  2 * REPRISE_TUNE_BACKOFF_LEAST + REPRISE_TUNE_BACKOFF_WATCHED / 4);
	for (unsigned int visit = 0; visit < 2 * REPRISE_TUNE_BACKOFF_AFTER / LOOP; visit++)
		calls("u v w x |");
	ck_assert_uint_eq(counted()->backed_off, backed_off);
}
END_TEST

/* What repeats makes it begin anew, with the shortest backoff. */
START_TEST(then_it_begins_anew)
{
	uint64_t backed_off;

	calls_new(REPRISE_TUNE_BACKOFF_AFTER + REPRISE_TUNE_BACKOFF_LEAST +
	          REPRISE_TUNE_BACKOFF_WATCHED + 1);
	ops_until_replayed(100000);
	backed_off = counted()->backed_off;
	calls_new(REPRISE_TUNE_BACKOFF_AFTER - 1000);
	ck_assert_uint_eq(counted()->backed_off, backed_off);
	calls_new(1000 + LOOP);
	ck_assert_uint_eq(counted()->backed_off, backed_off + REPRISE_TUNE_BACKOFF_LEAST);
}
END_TEST

/* A loop that is replayed now and then keeps it watching, however much comes in between. */
START_TEST(each_replayed_op_is_worth_some)
{
	ck_assert_uint_lt(ops_until_replayed(1000), 1000);
	for (unsigned int visit = 0; visit < 1000; visit++) {
		calls("u v w x |");
		calls_new(REPRISE_TUNE_BACKOFF_WORTH * LOOP - 2 * LOOP);
		calls("|");
	}
	ck_assert_uint_eq(counted()->backed_off, 0);
	ck_assert_uint_ge(driver.launches, 1000);
}
END_TEST

START_TEST(another_lane_is_watched_meanwhile)
{
	calls_new(REPRISE_TUNE_BACKOFF_AFTER + 1);
	driver.quiet = false;
	learns("2:a 2:b 2:c 2:d |", "2:[a b c d]");
	ck_assert_uint_eq(lane_of(2)->counts.backed_off, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("backoff");
	TCase *tests = tcase_create("backoff");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, it_backs_off_when_nothing_repeats);
	tcase_add_test(tests, each_time_for_twice_as_long);
	tcase_add_test(tests, the_driver_gets_all_ops);
	tcase_add_test(tests, what_repeats_in_a_backoff_is_not_seen);
	tcase_add_test(tests, it_comes_back);
	tcase_add_test(tests, then_it_begins_anew);
	tcase_add_test(tests, each_replayed_op_is_worth_some);
	tcase_add_test(tests, another_lane_is_watched_meanwhile);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
