/* A lane in which no calls come again is scanned until some do. One in which they come again, but
 * nothing repeats, is watched less and less. */
#include <string.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "lane/registry.h"
#include "report/totals.h"
#include "record/record.h"
#include "program.h"

#define LOOP 4    /* ops of the loop that comes later */
#define UNLIKE 20 /* kernels: four of them in a row hardly ever come again */
#define ALIKE 3   /* kernels: four of them in a row come again and again, and by chance */
#define SOON 4    /* calls in a row that a scan compares */
#define FOUND (REPRISE_TUNE_SCAN_FOUND / REPRISE_TUNE_SCAN_AGAIN)
#define SCANNED (4 * FOUND) /* where calls come again */

/* So many calls: `kernels` kernels in no order, each call with a value that never came before. */
static void calls_new(uint64_t count, unsigned int kernels)
{
	static uint32_t random = 1, value;

	for (uint64_t i = 0; i < count; i++) {
		char word[16] = "";

		random = random * 1664525 + 1013904223;
		word[0] = (char)('a' + (random >> 16) % kernels);
		strcat(word, "%u");
		calls_with(word, ++value);
	}
}

static void setup(void)
{
	program_begins();
	driver.quiet = true;
}

static bool scans(void)
{
	return atomic_load(&lane_of(1)->backoff_ops) == REPRISE_LANE_SCANS;
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

/* Backed off for so many ops, and for those of so many scans. */
static void backed_off_for(uint64_t ops, unsigned int scanned)
{
	ck_assert_uint_ge(counted()->backed_off, ops);
	ck_assert_uint_le(counted()->backed_off, ops + scanned * SCANNED);
}

/* ---- nothing comes again ---- */

START_TEST(a_new_lane_is_scanned)
{
	calls_new(1, UNLIKE);
	ck_assert(scans());
}
END_TEST

/* They are large. */
START_TEST(the_tables_to_watch_with_come_when_calls_come_again)
{
	calls_new(100, UNLIKE);
	ck_assert_ptr_null(lane_of(1)->watch);
	ck_assert_ptr_null(lane_of(1)->index);
	for (unsigned int ops = 0; scans() && ops < 1000; ops += LOOP)
		calls("u v w x");
	ck_assert_ptr_nonnull(lane_of(1)->watch);
	ck_assert_ptr_nonnull(lane_of(1)->index);
	ck_assert_uint_lt(ops_until_replayed(1000), 100);
}
END_TEST

/* Ops until the lane scans, or does so no longer. */
static uint64_t calls_until(bool scanning)
{
	uint64_t ops = 0;

	for (; scans() != scanning; ops++)
		calls_new(1, UNLIKE);
	return ops;
}

/* Each time for twice as long, if nothing is found meanwhile. */
START_TEST(a_scan_that_finds_nothing_ends_in_a_backoff)
{
	uint64_t span = REPRISE_TUNE_SCAN_SPAN;

	calls_until(true);
	for (unsigned int scan = 0; scan < 12; scan++) {
		ck_assert_uint_eq(calls_until(false), REPRISE_TUNE_SCAN_SPAN + 1);
		ck_assert_uint_eq(atomic_load(&lane_of(1)->backoff_ops), span);
		ck_assert_uint_eq(calls_until(true), span + 1);
		span = 2 * span < REPRISE_TUNE_BACKOFF_MOST ? 2 * span : REPRISE_TUNE_BACKOFF_MOST;
	}
	ck_assert_uint_eq(span, REPRISE_TUNE_BACKOFF_MOST);
	ck_assert_uint_eq(counted()->traces, 0);
	ck_assert_uint_eq(reprise_lane_counts_now(lane_of(1)).ops, driver.ops);
}
END_TEST

/* What has come again makes it begin anew. */
START_TEST(after_a_scan_that_found_something_backoffs_are_short_again)
{
	calls_until(true);
	for (unsigned int scan = 0; scan < 3; scan++) {
		calls_until(false);
		calls_until(true);
	}
	while (scans())
		calls("u v w x");
	calls_new(REPRISE_TUNE_BACKOFF_AFTER + SCANNED, ALIKE);
	ck_assert_uint_gt(atomic_load(&lane_of(1)->backoff_ops), 0);
	calls_until(true);
	calls_until(false);
	ck_assert_uint_eq(atomic_load(&lane_of(1)->backoff_ops), REPRISE_TUNE_SCAN_SPAN);
}
END_TEST

/* Not in one scan: what each notes stays. */
START_TEST(a_loop_longer_than_a_scan_is_found)
{
	uint64_t ops = 0, period = 3 * REPRISE_TUNE_SCAN_SPAN;

	calls_until(true);
	calls_until(false);
	for (; lane_of(1)->scan_span != 0 && ops < 100 * period; ops++) {
		uint64_t mixed = ops % period * 0x9e3779b97f4a7c15u;
		char word[2] = {(char)('a' + (mixed >> 40) % UNLIKE)};

		calls_with(word, 1);
	}
	ck_assert_uint_lt(ops, 20 * period);
}
END_TEST

START_TEST(what_is_scanned_is_counted)
{
	struct reprise_lane_counts counts;

	calls_new(1000, UNLIKE);
	counts = reprise_lane_counts_now(lane_of(1));
	ck_assert_uint_eq(counts.ops, 1000);
	ck_assert_uint_eq(counts.backed_off, 1000);
	for (unsigned int visit = 0; scans(); visit++)
		calls("u v w x");
	ck_assert_uint_eq(counted()->ops, driver.ops);
	ck_assert_uint_ge(counted()->backed_off, driver.ops - LOOP);
	ck_assert_uint_lt(counted()->backed_off, driver.ops);
}
END_TEST

/* As soon as a loop has come twice, and a bit. */
START_TEST(a_scan_ends_when_calls_come_again)
{
	unsigned int ops = 0;

	calls_new(5000, UNLIKE);
	calls_until(true);
	for (; scans(); ops++)
		calls_with((const char *[]){"u", "v", "w", "x"}[ops % LOOP], 1);
	ck_assert_uint_ge(ops, FOUND + SOON);
	ck_assert_uint_le(ops, LOOP + SOON + FOUND + 1);
	ck_assert_uint_le(ops_until_replayed(1000), 100);
}
END_TEST

/* One call of ten is another each time. */
START_TEST(a_scan_finds_loops_that_change)
{
	char word[2] = "";
	unsigned int ops = 0;

	calls_new(5000, UNLIKE);
	calls_until(true);
	for (; scans() && ops < 1000; ops++) {
		word[0] = (char)(ops % 10 == 0 ? 'A' + ops / 10 % 26 : 'a' + ops % 10);
		calls_with(word, 1);
	}
	ck_assert_uint_lt(ops, 200);
}
END_TEST

/* What another path looks at counts for the scan all the same. */
START_TEST(a_scan_sees_what_does_not_pass_at_once)
{
	unsigned int ops = 0;

	calls_new(5000, UNLIKE);
	calls_until(true);
	atomic_store(&reprise_recording, true); /* each call goes to its lane */
	for (; scans() && ops < 1000; ops++)
		calls_with((const char *[]){"u", "v", "w", "x"}[ops % LOOP], 1);
	atomic_store(&reprise_recording, false);
	ck_assert_uint_le(ops, LOOP + SOON + FOUND + 1);
	ck_assert_uint_eq(counted()->ops, driver.ops);
}
END_TEST

/* ---- calls come again by chance ---- */

/* Calls until the next backoff begins, which is of *span ops. */
static unsigned int calls_until_backoff(uint64_t *span)
{
	uint64_t before;
	unsigned int count = 0;

	do {
		before = counted()->backed_off;
		calls_new(1, ALIKE);
		count++;
		*span = counted()->backed_off - before;
	} while (*span < REPRISE_TUNE_BACKOFF_LEAST);
	return count;
}

/* The last call is the first of the backoff. */
static void first_backoff_begins(void)
{
	uint64_t span;

	calls_until_backoff(&span);
}

START_TEST(it_backs_off_when_nothing_repeats)
{
	uint64_t span;
	unsigned int count = calls_until_backoff(&span);

	ck_assert_uint_ge(count, REPRISE_TUNE_BACKOFF_AFTER);
	ck_assert_uint_le(count,
	                  REPRISE_TUNE_BACKOFF_AFTER + 2 * SCANNED); /* the first come again rarely */
	ck_assert_uint_eq(span, REPRISE_TUNE_BACKOFF_LEAST);
}
END_TEST

START_TEST(each_time_for_twice_as_long)
{
	uint64_t span, last = REPRISE_TUNE_BACKOFF_LEAST;

	first_backoff_begins();
	for (unsigned int backoff = 0; backoff < 8; backoff++, last = span) {
		unsigned int count = calls_until_backoff(&span);

		ck_assert_uint_ge(count, last + REPRISE_TUNE_BACKOFF_WATCHED);
		ck_assert_uint_le(count, last + REPRISE_TUNE_BACKOFF_WATCHED + SCANNED);
		/* no longer than that */
		ck_assert_uint_eq(span, last == REPRISE_TUNE_BACKOFF_MOST ? last : 2 * last);
	}
	ck_assert_uint_eq(last, REPRISE_TUNE_BACKOFF_MOST);
}
END_TEST

/* It is not watched, where not even calls come again. */
START_TEST(after_a_backoff_it_is_scanned)
{
	uint64_t watched;

	first_backoff_begins();
	calls_new(REPRISE_TUNE_BACKOFF_LEAST, ALIKE);
	ck_assert(!scans());
	calls_new(1, UNLIKE);
	ck_assert(scans());
	watched = counted()->ops - counted()->backed_off;
	calls_new(100000, UNLIKE);
	ck_assert_uint_eq(counted()->ops - counted()->backed_off, watched);
}
END_TEST

/* Backed off, scanned or not, each is the driver's at its own call. */
START_TEST(the_driver_gets_all_ops)
{
	for (unsigned int ops = 100; ops <= 40000; ops += 100) {
		reprise_lanes_look_again(); /* so that the next call looks for its lane */
		calls_new(100, ops % 1000 < 500 ? ALIKE : UNLIKE);
		ck_assert_uint_eq(driver.ops, ops);
		ck_assert_uint_eq(reprise_lane_counts_now(lane_of(1)).ops, ops);
	}
	ck_assert_uint_gt(counted()->backed_off, 0);
	ck_assert_uint_eq(counted()->replayed, 0);
}
END_TEST

START_TEST(what_repeats_in_a_backoff_is_not_seen)
{
	first_backoff_begins();
	ck_assert_uint_gt(ops_until_replayed(REPRISE_TUNE_BACKOFF_LEAST - 1000),
	                  REPRISE_TUNE_BACKOFF_LEAST - 1000 - LOOP);
	ck_assert_uint_eq(counted()->traces, 0);
}
END_TEST

START_TEST(it_comes_back)
{
	uint64_t backed_off;

	first_backoff_begins();
	calls_new(REPRISE_TUNE_BACKOFF_LEAST + REPRISE_TUNE_BACKOFF_WATCHED + SCANNED, ALIKE);
	backed_off_for(3 * REPRISE_TUNE_BACKOFF_LEAST, 2);
	ck_assert_uint_le(ops_until_replayed(100000),
	                  2 * REPRISE_TUNE_BACKOFF_LEAST + REPRISE_TUNE_BACKOFF_WATCHED / 4);
	backed_off = counted()->backed_off;
	for (unsigned int visit = 0; visit < 2 * REPRISE_TUNE_BACKOFF_AFTER / LOOP; visit++)
		calls("u v w x |");
	ck_assert_uint_eq(counted()->backed_off, backed_off);
}
END_TEST

/* What repeats makes it begin anew, with the shortest backoff. */
START_TEST(then_it_begins_anew)
{
	uint64_t backed_off;

	first_backoff_begins();
	calls_new(REPRISE_TUNE_BACKOFF_LEAST + REPRISE_TUNE_BACKOFF_WATCHED + SCANNED, ALIKE);
	ops_until_replayed(100000);
	backed_off = counted()->backed_off;
	calls_new(REPRISE_TUNE_BACKOFF_AFTER - 1000, ALIKE);
	ck_assert_uint_eq(counted()->backed_off, backed_off);
	calls_new(1000 + LOOP, ALIKE);
	ck_assert_uint_eq(counted()->backed_off, backed_off + REPRISE_TUNE_BACKOFF_LEAST);
}
END_TEST

/* A loop that is replayed now and then keeps it watching, however much comes in between. */
START_TEST(each_replayed_op_is_worth_some)
{
	uint64_t backed_off;

	ck_assert_uint_lt(ops_until_replayed(1000), 1000);
	backed_off = counted()->backed_off;
	for (unsigned int visit = 0; visit < 1000; visit++) {
		calls("u v w x |");
		calls_new(REPRISE_TUNE_BACKOFF_WORTH * LOOP - 2 * LOOP, UNLIKE);
		calls("|");
	}
	ck_assert_uint_eq(counted()->backed_off, backed_off);
	ck_assert_uint_ge(driver.launches, 1000);
}
END_TEST

START_TEST(another_lane_is_watched_meanwhile)
{
	first_backoff_begins();
	driver.quiet = false;
	learns("2:a 2:b 2:c 2:d |", "2:[a b c d]");
	ck_assert_uint_le(lane_of(2)->counts.backed_off, SCANNED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("backoff");
	TCase *tests = tcase_create("backoff");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_new_lane_is_scanned);
	tcase_add_test(tests, the_tables_to_watch_with_come_when_calls_come_again);
	tcase_add_test(tests, a_scan_that_finds_nothing_ends_in_a_backoff);
	tcase_add_test(tests, after_a_scan_that_found_something_backoffs_are_short_again);
	tcase_add_test(tests, a_loop_longer_than_a_scan_is_found);
	tcase_add_test(tests, what_is_scanned_is_counted);
	tcase_add_test(tests, a_scan_ends_when_calls_come_again);
	tcase_add_test(tests, a_scan_finds_loops_that_change);
	tcase_add_test(tests, a_scan_sees_what_does_not_pass_at_once);
	tcase_add_test(tests, it_backs_off_when_nothing_repeats);
	tcase_add_test(tests, each_time_for_twice_as_long);
	tcase_add_test(tests, after_a_backoff_it_is_scanned);
	tcase_add_test(tests, the_driver_gets_all_ops);
	tcase_add_test(tests, what_repeats_in_a_backoff_is_not_seen);
	tcase_add_test(tests, it_comes_back);
	tcase_add_test(tests, then_it_begins_anew);
	tcase_add_test(tests, each_replayed_op_is_worth_some);
	tcase_add_test(tests, another_lane_is_watched_meanwhile);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
