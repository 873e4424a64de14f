/* What passes (src/entry/pass.c), what does not, and what is counted of it. */
#include "../../suite.h"
#include "base/inside.h"
#include "base/tuning.h"
#include "entry/entry.h"
#include "graph/program_captures.h"
#include "lane/group/group.h"
#include "lane/registry.h"
#include "lane/turns.h"
#include "record/record.h"
#include "report/totals.h"
#include "timeline/timeline.h"
#include "program.h"

#define OPS 5

/* Stream 1 backs off for OPS ops. */
static void setup(void)
{
	program_begins();
	atomic_store(&lane_of(1)->backoff_ops, OPS);
}

static const struct reprise_scan_key key = {1, 2};

static bool passes(void)
{
	if (!REPRISE_PASSES(driver_stream(1), false, true, key))
		return false;
	ck_assert_int_eq(reprise_inside, 1); /* what the driver calls back goes straight through */
	ck_assert(!reprise_pass_again(CUDA_SUCCESS, 0));
	ck_assert_int_eq(reprise_inside, 0);
	return true;
}

static uint64_t backed_off(void)
{
	return OPS - atomic_load(&lane_of(1)->backoff_ops);
}

static uint64_t paused(void)
{
	return reprise_counted(REPRISE_COUNT_paused_ops);
}

static uint64_t unseen(void)
{
	return reprise_counted(REPRISE_COUNT_unseen_ops);
}

/* ---- backoff ---- */

START_TEST(an_op_passes_in_a_backoff)
{
	for (unsigned int i = 0; i < OPS; i++) {
		ck_assert_uint_eq(backed_off(), i);
		ck_assert(passes());
	}
	ck_assert(!passes());
	ck_assert_uint_eq(backed_off(), OPS);
	ck_assert_uint_eq(paused() + unseen(), 0);
}
END_TEST

/* The lane scans, as after its first ops. */
static struct reprise_lane *scans(void)
{
	struct reprise_lane *lane = lane_of(1);

	atomic_store(&lane->backoff_ops, 0);
	calls("a"); /* the lane takes its memory */
	reprise_scan_begin(lane->scan);
	atomic_store(&lane->backoff_ops, REPRISE_LANE_SCANS);
	return lane;
}

START_TEST(an_op_that_is_scanned_passes)
{
	struct reprise_lane *lane = scans();
	uint64_t before = reprise_lane_counts_now(lane).ops;

	atomic_store(&lane->backoff_ops, OPS); /* another thread has ended the scan */
	ck_assert(!reprise_pass_begins_scanned(driver_stream(1), false, key));
	atomic_store(&lane->backoff_ops, REPRISE_LANE_SCANS);
	ck_assert_int_eq(reprise_pass_begins(driver_stream(1), false), REPRISE_PASS_SCANNED);
	ck_assert_int_eq(reprise_inside, 0); /* not yet */
	ck_assert(passes());
	ck_assert_uint_eq(reprise_lane_counts_now(lane).ops, before + 1);
}
END_TEST

/* It is counted on the way of any op. */
START_TEST(the_op_at_which_a_scan_ends_does_not)
{
	struct reprise_lane *lane = scans();
	uint64_t before = reprise_lane_counts_now(lane).ops;
	unsigned int ops = 0;

	for (; passes(); ops++) /* the same again and again */
		ck_assert_uint_lt(ops, 2 * REPRISE_TUNE_SCAN_FOUND);
	ck_assert_uint_eq(reprise_lane_counts_now(lane).ops, before + ops);
	atomic_store(&lane->scan->score, 0);
	atomic_store(&lane->scan->left, 1);
	ck_assert(passes());
	ck_assert(!passes());
}
END_TEST

START_TEST(in_a_pause_scanned_ops_count_as_paused)
{
	struct reprise_lane *lane = scans();
	uint64_t before = reprise_lane_counts_now(lane).ops;

	reprise_pause_begin();
	ck_assert(passes());
	ck_assert_uint_eq(paused(), 1);
	ck_assert_uint_eq(reprise_lane_counts_now(lane).ops, before);
}
END_TEST

START_TEST(an_op_of_a_stream_without_a_lane_does_not)
{
	ck_assert(!reprise_pass_begins(driver_stream(2), false));
	reprise_lanes_look_again(); /* the lane may be another stream's by now */
	ck_assert(!passes());
}
END_TEST

/* What stands in the way, whatever else there is. */
static void *const in_the_way[] = {
	(void *)&reprise_holding,
	(void *)&reprise_groups_tracked,
	(void *)&reprise_recording,
	(void *)&reprise_timeline_on,
};

static void set(int which, uint8_t value)
{
	*(uint8_t *)in_the_way[which] = value;
	reprise_groups = reprise_groups_tracked; /* there is no more than that */
}

START_TEST(nothing_passes_where_something_may_come_before_or_is_noted)
{
	set(_i, 1);
	ck_assert(!passes());
	reprise_pauses = 1;
	ck_assert(!passes());
	reprise_pauses = REPRISE_PAUSE_FLAGS;
	ck_assert(!passes());
	reprise_pauses = 0;
	set(_i, 0);
	ck_assert_uint_eq(backed_off() + paused() + unseen(), 0);
	ck_assert(passes());
}
END_TEST

/* Whether its lane backs off is not the member's to tell. */
START_TEST(beside_a_group_that_is_not_tracked_ops_pass_in_pauses_only)
{
	reprise_groups = 1;
	ck_assert(!passes());
	reprise_pauses = 1;
	ck_assert(passes());
	reprise_pauses = REPRISE_PAUSE_FLAGS;
	ck_assert(passes());
	ck_assert_uint_eq(backed_off(), 0);
	ck_assert_uint_eq(paused() + unseen(), 2);
}
END_TEST

START_TEST(nothing_passes_from_inside)
{
	reprise_inside++;
	ck_assert(!reprise_pass_begins(driver_stream(1), false));
	reprise_inside--;
	ck_assert(passes());
}
END_TEST

/* ---- lanes that hold ---- */

START_TEST(a_lane_that_holds_is_seen_until_it_does_no_more)
{
	learns("2:a 2:b 2:c |", "2:[a b c]");
	ck_assert(!reprise_lanes_hold());
	CALLS_ARE_SEEN_AS("2:a", "");
	atomic_store(&lane_of(1)->backoff_ops, OPS);
	ck_assert(reprise_lanes_hold());
	ck_assert(!passes());
	CALLS_ARE_SEEN_AS("2:b 2:c |", "2:[a b c]");
	ck_assert(!reprise_lanes_hold());
	ck_assert(passes());
	CALLS_ARE_SEEN_AS("2:a", "");
	ck_assert(!passes());
}
END_TEST

/* ---- pauses ---- */

START_TEST(in_a_pause_all_ops_pass)
{
	atomic_store(&lane_of(1)->backoff_ops, 0);
	ck_assert(!passes());
	reprise_pause_begin();
	ck_assert(passes());
	ck_assert(reprise_pass_begins(driver_stream(2), false)); /* it has no lane */
	reprise_pass_again(CUDA_SUCCESS, 0);
	reprise_eager_turn_begin();
	ck_assert(passes());
	ck_assert_uint_eq(paused(), 3);
	reprise_eager_turn_end();
	reprise_pause_end();
	ck_assert(!passes());
}
END_TEST

/* Then they are counted otherwise. */
START_TEST(once_reprise_has_stopped_none_passes)
{
	atomic_store(&lane_of(1)->backoff_ops, 0);
	reprise_pause_begin();
	reprise_eager_stop("a test");
	ck_assert(!passes());
	ck_assert_uint_eq(paused(), 0);
}
END_TEST

/* ---- eager turns ---- */

static void begin_unseen(uint64_t ns)
{
	atomic_store(&lane_of(1)->backoff_ops, 0);
	reprise_eager_turn_begin();
	ck_assert(!passes()); /* the anchor may come */
	reprise_eager_unseen_begin(reprise_clock_ns() + ns);
}

/* Of other calls it matters whether they are empty, and what they cost is told apart. */
START_TEST(in_a_turn_that_is_looked_at_launches_pass_that_are_no_anchor)
{
	struct reprise_lane *lane = lane_of(1);

	atomic_store(&lane->backoff_ops, 0);
	reprise_lane_attend(lane);
	lane->counts.in_turns = 1; /* at others the anchor is looked after */
	reprise_eager_turn_begin();
	ck_assert(passes());
	ck_assert_uint_eq(lane->counts.in_turns, 2);
	ck_assert_int_eq(reprise_pass_begins(driver_stream(1), false), REPRISE_PASS_IN_TURN);
	ck_assert_int_eq(reprise_inside, 0); /* not yet */
	reprise_anchor_waited = true;
	ck_assert(!passes());
	reprise_anchor_waited = false;
	ck_assert(passes());
	lane->counts.in_turns = REPRISE_TUNE_EAGER_TIMED;
	ck_assert(!passes());
	ck_assert_uint_eq(lane->counts.in_turns, REPRISE_TUNE_EAGER_TIMED);
}
END_TEST

START_TEST(unseen_ops_pass_until_the_time_is_over)
{
	begin_unseen(1000);
	for (unsigned int i = 0; i < REPRISE_TUNE_UNSEEN_LOOKED; i++)
		ck_assert(passes());
	reprise_clock_virtual += 1000;
	for (unsigned int i = 0; i < REPRISE_TUNE_UNSEEN_LOOKED; i++)
		ck_assert(passes()); /* the last one ends it */
	ck_assert(!passes());
	ck_assert(reprise_eager_turn());
	ck_assert_uint_eq(unseen(), 2 * REPRISE_TUNE_UNSEEN_LOOKED);
}
END_TEST

START_TEST(in_a_range_that_is_eager_unseen_ops_do_not_pass)
{
	begin_unseen(1000);
	reprise_range_begin();
	ck_assert(!passes());
	reprise_range_end();
	ck_assert(passes());
}
END_TEST

START_TEST(while_the_program_captures_unseen_ops_do_not_pass)
{
	begin_unseen(1000);
	ck_assert(reprise_program_captures_begin(driver_stream(3), NULL));
	ck_assert(!passes());
	ck_assert_uint_eq(unseen(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pass");
	TCase *tests = tcase_create("pass");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, an_op_passes_in_a_backoff);
	tcase_add_test(tests, an_op_that_is_scanned_passes);
	tcase_add_test(tests, the_op_at_which_a_scan_ends_does_not);
	tcase_add_test(tests, in_a_pause_scanned_ops_count_as_paused);
	tcase_add_test(tests, an_op_of_a_stream_without_a_lane_does_not);
	tcase_add_loop_test(tests, nothing_passes_where_something_may_come_before_or_is_noted, 0,
	                    sizeof(in_the_way) / sizeof(in_the_way[0]));
	tcase_add_test(tests, beside_a_group_that_is_not_tracked_ops_pass_in_pauses_only);
	tcase_add_test(tests, nothing_passes_from_inside);
	tcase_add_test(tests, a_lane_that_holds_is_seen_until_it_does_no_more);
	tcase_add_test(tests, in_a_pause_all_ops_pass);
	tcase_add_test(tests, once_reprise_has_stopped_none_passes);
	tcase_add_test(tests, in_a_turn_that_is_looked_at_launches_pass_that_are_no_anchor);
	tcase_add_test(tests, unseen_ops_pass_until_the_time_is_over);
	tcase_add_test(tests, in_a_range_that_is_eager_unseen_ops_do_not_pass);
	tcase_add_test(tests, while_the_program_captures_unseen_ops_do_not_pass);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
