/*
 * Turns between replaying and eager calls, in virtual time: what the driver gets stays the
 * program's work, each decision is right, and what replaying costs against eager calls keeps within
 * its bound from the first call on.
 *
 * Replaying is assumed to pay, so that no model ends it before it is measured.
 */
#include <stdio.h>
#include <string.h>

#include "../../suite.h"
#include "base/clock.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/build_queue.h"
#include "graph/building.h"
#include "lane/eager.h"
#include "lane/turns.h"
#include "program.h"
#include "report/totals.h"
#include "workers/workers.h"
#include "../../virtual/costs.h"
#include "../../virtual/threads.h"

#define SECOND UINT64_C(1000000000)

static const char *period = "a b c d |", *work = "a b c d"; /* of the loop */
static uint64_t began, eager_ns; /* the run's beginning; what eager calls alone would have taken */
static uint64_t blocked_ns;      /* for which each period is kept while Reprise replays */
static uint64_t most_over;       /* what was lost beyond the bound */

static void setup(void)
{
	static const char *const options[] = {"REPRISE_TURNS=1", "REPRISE_PAYS=assumed", NULL};

	program_begins_with(options);
	reprise_turns_start();
	driver_saw();
	began = reprise_clock_virtual;
}

/* One period, whose calls take so long eagerly. */
static void pass(const char *words, unsigned int ops)
{
	uint64_t elapsed, lost;

	calls(words);
	reprise_clock_virtual += reprise_eager_turn() ? 0 : blocked_ns;
	eager_ns += ops * (driver.eager_ns + PROGRAM_GAP_NS) + PROGRAM_GAP_NS;
	elapsed = reprise_clock_virtual - began;
	lost = elapsed > eager_ns ? elapsed - eager_ns : 0;
	if (lost > 20000000 + elapsed / 100 && lost - 20000000 - elapsed / 100 > most_over)
		most_over = lost - 20000000 - elapsed / 100;
}

/* Check notes each assertion, which takes longer than a period. */
static void is_given(const char *expected)
{
	const char *seen = driver_saw_work();

	if (strcmp(seen, expected) != 0)
		ck_abort_msg("\"%s\" instead of \"%s\"", seen, expected);
}

/* The loop runs for so long. Every period gives the driver the same work. */
static void runs_for(uint64_t ns)
{
	uint64_t until = reprise_clock_virtual + ns;

	while (reprise_clock_virtual < until) {
		pass(period, 4);
		graphs_are_built();
		is_given(work);
	}
}

static enum reprise_verdict verdict(void)
{
	return reprise_turns_read().result.verdict;
}

/* ---- decisions ---- */

START_TEST(what_gains_is_replayed)
{
	struct reprise_turns_result result;

	runs_for(SECOND);
	result = reprise_turns_read().result;
	ck_assert_int_eq(result.verdict, REPRISE_VERDICT_REPLAY);
	/* four calls against one launch, with the program's own time */
	ck_assert_uint_eq(result.gain / 10, (4 * (COST_EAGER + 100) + 100) * 100 / (COST_GRAPH + 500));
	ck_assert_uint_eq(result.low, result.gain);
	ck_assert(!reprise_eager_turn());
	ck_assert_uint_gt(counted()->in_turns, 0);
	ck_assert_uint_lt(counted()->in_turns, counted()->ops / 10);
}
END_TEST

START_TEST(launches_dearer_than_eager_calls_are_left_within_the_bound)
{
	driver.graph_ns = 10 * COST_EAGER;
	runs_for(3 * SECOND);
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_EAGER);
	ck_assert_uint_eq(most_over, 0);
	ck_assert_uint_gt(counted()->in_turns, counted()->ops);
}
END_TEST

/* Calls that are timed amid replays are dearer here. */
START_TEST(what_calls_cost_is_told_by_eager_turns)
{
	const struct reprise_gain *told = &reprise_totals_take()->gain;

	for (unsigned int visit = 0; visit < 2000; visit++) {
		driver.eager_ns = reprise_eager_turn() ? COST_EAGER : 4 * COST_EAGER;
		if (visit == 40) {
			reprise_totals_take();
			ck_assert_uint_eq(told->kind_ns[REPRISE_OP_KERNEL], 4 * COST_EAGER);
		}
		pass(period, 4);
		graphs_are_built();
	}
	driver_saw();
	ck_assert_uint_gt(counted()->in_turns, 16 * REPRISE_TUNE_EAGER_TIMED);
	reprise_totals_take();
	ck_assert_uint_eq(told->kind_ns[REPRISE_OP_KERNEL], COST_EAGER);
	ck_assert_uint_eq(told->replaced_ns, counted()->replayed * COST_EAGER);
}
END_TEST

static uint64_t unseen(void)
{
	return reprise_counted(REPRISE_COUNT_unseen_ops);
}

/* A record is an op in groups alone: elsewhere both arms would count another number of ops. */
START_TEST(a_record_outside_a_group_is_no_op_of_a_turn)
{
	unsigned int looked_at = 0;

	driver.graph_ns = 10 * COST_EAGER;
	period = "a b c d >e d c b a |";
	work = "a b c d >e d c b a";
	runs_for(3 * SECOND);
	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t before = counted()->in_turns, unseen_before = unseen();

		pass(period, 8);
		graphs_are_built();
		is_given(work);
		if (unseen() != unseen_before)
			continue;
		if (counted()->in_turns - before > 8)
			ck_abort_msg("%d ops", (int)(counted()->in_turns - before));
		looked_at += counted()->in_turns - before == 8;
	}
	ck_assert_uint_gt(looked_at, 100);
}
END_TEST

/* A hundredth or so is looked at. All are told as ops of eager turns. */
START_TEST(what_is_left_eager_passes_unseen)
{
	uint64_t before;

	driver.graph_ns = 10 * COST_EAGER;
	runs_for(SECOND / 10);
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_EAGER);
	before = counted()->in_turns;
	runs_for(SECOND / 5);
	ck_assert_uint_gt(unseen(), 4000);
	ck_assert_uint_lt(counted()->in_turns - before, unseen() / 20);
	ck_assert_uint_eq(reprise_counts_sum().in_turns, counted()->in_turns + unseen());
}
END_TEST

/* A pause counts as such, and ends nothing. */
START_TEST(a_pause_among_unseen_ops_is_still_one)
{
	uint64_t before;

	driver.graph_ns = 10 * COST_EAGER;
	runs_for(SECOND / 10);
	ck_assert(reprise_eager_unseen());
	reprise_pause_begin();
	ck_assert(!reprise_eager_unseen());
	ck_assert_int_eq(reprise_eager_counter(), REPRISE_COUNT_paused_ops);
	reprise_pause_end();
	reprise_pause_end(); /* has no beginning */
	ck_assert(reprise_eager_unseen());
	ck_assert_int_eq(reprise_eager_counter(), REPRISE_COUNT_unseen_ops);
	before = unseen();
	runs_for(REPRISE_TUNE_UNSEEN_NS);
	ck_assert_uint_gt(unseen(), before);
	reprise_eager_turn_end();
	ck_assert(reprise_taking_part());
}
END_TEST

START_TEST(patches_dearer_than_eager_calls_are_left_within_the_bound)
{
	driver.node_ns = driver.update_ns = 10 * COST_EAGER;
	for (unsigned int i = 1000; reprise_clock_virtual < began + 3 * SECOND; i++) {
		char words[32];

		snprintf(words, sizeof(words), "a b c%u d |", i);
		pass(words, 4);
		words[strlen(words) - 2] = '\0';
		is_given(words);
		graphs_are_built();
	}
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_EAGER);
	ck_assert_uint_gt(counted()->patched, 0);
	ck_assert_uint_eq(most_over, 0);
}
END_TEST

START_TEST(what_keeps_the_program_only_while_it_replays_shows)
{
	blocked_ns = 25000;
	runs_for(3 * SECOND);
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_EAGER);
	ck_assert_uint_eq(most_over, 0);
}
END_TEST

START_TEST(a_gain_that_turns_into_a_loss_and_back_is_followed)
{
	runs_for(SECOND);
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_REPLAY);
	driver.graph_ns = 10 * COST_EAGER;
	runs_for(SECOND / 4);
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_EAGER);
	driver.graph_ns = COST_GRAPH;
	runs_for(2 * SECOND); /* until the next test */
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(most_over, 0);
}
END_TEST

START_TEST(nothing_is_decided_by_default)
{
	reprise_turns_on = false;
	driver.graph_ns = 10 * COST_EAGER;
	runs_for(SECOND);
	ck_assert(!reprise_turns_read().on);
	ck_assert_uint_eq(counted()->in_turns, 0);
	ck_assert_uint_eq(counted()->launches, counted()->replayed / 4);
	ck_assert_uint_gt(counted()->launches, 10000);
}
END_TEST

/* ---- an eager turn ---- */

/* Until one is under way: its first op has come. */
static void comes_to_an_eager_turn(void)
{
	for (unsigned int i = 0; i < 100000 && !reprise_eager_turn(); i++) {
		calls("a");
		if (!reprise_eager_turn())
			calls("b c d |");
		graphs_are_built();
	}
	ck_assert(reprise_eager_turn());
}

START_TEST(an_eager_turn_issues_nothing_early)
{
	comes_to_an_eager_turn();
	ck_assert_uint_eq(reprise_side_exits(counted()), 0);
	driver_saw();
	CALLS_ARE_SEEN_AS("b c d |", "b c d");
}
END_TEST

START_TEST(traces_and_graphs_stay)
{
	uint64_t traces;
	unsigned int unfinished;

	comes_to_an_eager_turn();
	traces = counted()->traces;
	unfinished = reprise_build_queue_unfinished();
	calls("b c d |");
	for (unsigned int i = 0; i < 1000 && reprise_eager_turn(); i++)
		calls("a b c d |");
	ck_assert(!reprise_eager_turn());
	ck_assert_uint_eq(counted()->traces, traces);
	ck_assert_uint_eq(reprise_build_queue_unfinished(), unfinished);
	driver_saw();
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]"); /* at once */
}
END_TEST

/* The builder takes a graph from the queue, and gives it up: that is enough to see it at work. */
static CUresult CUDAAPI refuse_context(CUcontext context)
{
	return CUDA_ERROR_INVALID_CONTEXT;
}

/* The builder has so much time. */
static void builder_works(uint64_t ns)
{
	reprise_driver.cuCtxSetCurrent = refuse_context;
	reprise_builder_define();
	thread_runs(&reprise_builder, ns);
}

START_TEST(nothing_is_built_unless_it_lasts_long)
{
	comes_to_an_eager_turn();
	reprise_eager_turn_end();
	reprise_turns_on = false; /* what comes is not measured */
	for (unsigned int i = 0; i < 40 && reprise_build_queue_unfinished() == 0; i++)
		calls("2:e 2:f 2:g 2:h |");
	ck_assert_uint_gt(reprise_build_queue_unfinished(), 0);
	reprise_eager_turn_begin();
	builder_works(REPRISE_TUNE_TURN_BUILDS_NS / 2);
	ck_assert_uint_gt(reprise_build_queue_unfinished(), 0);
	builder_works(REPRISE_TUNE_TURN_BUILDS_NS);
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 0);
}
END_TEST

/* Neither of a turn nor of a rest; and a loop that was paused for long is not lost. */
START_TEST(a_period_with_a_pause_in_it_does_not_count)
{
	struct reprise_turns_result before, after;

	runs_for(SECOND);
	before = reprise_turns_read().result;
	ck_assert_int_eq(before.verdict, REPRISE_VERDICT_REPLAY);
	for (unsigned int i = 0; i < 400; i++) {
		runs_for((5 + i % 7) * (reprise_clock_virtual % 3 + 1) * 500000);
		reprise_pause_begin();
		reprise_clock_virtual += 150000000;
		reprise_pause_end();
	}
	runs_for(SECOND / 10);
	after = reprise_turns_read().result;
	ck_assert(reprise_turns_read().measuring);
	ck_assert_int_eq(after.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(after.loops, 1);
	ck_assert_uint_gt(after.tests, before.tests);
	ck_assert_uint_eq(after.gain, before.gain);
	ck_assert_uint_eq(after.low, before.low);
	ck_assert_uint_eq(after.high, before.high);
}
END_TEST

START_TEST(a_pause_within_it_is_still_one)
{
	comes_to_an_eager_turn();
	reprise_pause_begin();
	ck_assert(!reprise_eager_by_turn());
	ck_assert_int_eq(reprise_eager_counter(), REPRISE_COUNT_paused_ops);
	reprise_pause_end();
	ck_assert(reprise_eager_by_turn());
	reprise_pause_end(); /* has no beginning */
	ck_assert(reprise_eager_turn());
}
END_TEST

/* ---- anchors ---- */

START_TEST(a_loop_that_waits_several_times_is_measured_as_one)
{
	period = "a b c d | e f g h | a b c d i j |";
	work = "a b c d e f g h a b c d i j";
	runs_for(SECOND);
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(reprise_turns_read().result.loops, 1);
}
END_TEST

START_TEST(another_loop_is_measured_anew)
{
	driver.graph_ns = 10 * COST_EAGER;
	runs_for(SECOND);
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_EAGER);
	ck_assert(reprise_eager_turn());
	period = "e f g h |";
	work = "e f g h";
	driver.graph_ns = COST_GRAPH;
	runs_for(2 * SECOND);
	ck_assert_uint_eq(reprise_turns_read().result.loops, 2);
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_REPLAY);
	ck_assert(!reprise_eager_turn());
}
END_TEST

/* It copies its parameters, say, one by one, and compiles something for four seconds. */
START_TEST(what_a_program_sets_up_with_is_no_loop)
{
	for (unsigned int copies = 0; copies < 42; copies++)
		calls("x |");
	reprise_clock_virtual += 4 * SECOND;
	calls("x | x |");
	driver_saw();
	runs_for(SECOND / 2);
	ck_assert_uint_eq(reprise_turns_read().result.loops, 1);
	ck_assert_int_eq(verdict(), REPRISE_VERDICT_REPLAY);
	ck_assert_uint_gt(10 * counted()->replayed, 8 * counted()->ops);
}
END_TEST

START_TEST(a_loop_that_waits_no_more_is_another)
{
	driver.graph_ns = 10 * COST_EAGER;
	runs_for(SECOND);
	ck_assert(reprise_eager_turn());
	period = "e f g h";
	work = "e f g h";
	for (unsigned int i = 0; i < 6000; i++)
		calls(period);
	ck_assert_uint_eq(reprise_turns_read().result.loops, 1);
	for (unsigned int i = 0; i < 150000; i++) { /* a pause of the search is among them */
		calls(period);
		graphs_are_built();
		driver_saw();
	}
	ck_assert_uint_eq(reprise_turns_read().result.loops, 2);
}
END_TEST

START_TEST(periods_with_other_ops_are_not_compared)
{
	uint64_t turns;

	comes_to_an_eager_turn();
	calls("b c d |");
	turns = reprise_turns_read().result.turns;
	for (unsigned int i = 0; i < REPRISE_TUNE_ANCHOR_LOST - 2; i++)
		calls("a b c d e f |");
	ck_assert_uint_le(reprise_turns_read().result.turns, turns + 1);
	for (unsigned int i = 0; i < 4; i++)
		calls("a b c d e f |");
	ck_assert(!reprise_turns_read().measuring); /* it is another loop now */
	ck_assert(!reprise_eager_turn());
}
END_TEST

START_TEST(the_anchor_is_of_the_busiest_lane)
{
	for (unsigned int i = 0; i < 20000; i++) {
		calls("2:a 2:b 2:c | a b c d e f g h a b c d e f g i |");
		graphs_are_built();
		driver_saw();
	}
	ck_assert_int_ne(verdict(), REPRISE_VERDICT_UNDECIDED);
	ck_assert_ptr_eq(reprise_turns_lane(), lane_of(1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane_turns");
	TCase *tests = tcase_create("turns");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, what_gains_is_replayed);
	tcase_add_test(tests, what_calls_cost_is_told_by_eager_turns);
	tcase_add_test(tests, a_record_outside_a_group_is_no_op_of_a_turn);
	tcase_add_test(tests, launches_dearer_than_eager_calls_are_left_within_the_bound);
	tcase_add_test(tests, what_is_left_eager_passes_unseen);
	tcase_add_test(tests, a_pause_among_unseen_ops_is_still_one);
	tcase_add_test(tests, patches_dearer_than_eager_calls_are_left_within_the_bound);
	tcase_add_test(tests, what_keeps_the_program_only_while_it_replays_shows);
	tcase_add_test(tests, a_gain_that_turns_into_a_loss_and_back_is_followed);
	tcase_add_test(tests, nothing_is_decided_by_default);
	tcase_add_test(tests, an_eager_turn_issues_nothing_early);
	tcase_add_test(tests, traces_and_graphs_stay);
	tcase_add_test(tests, nothing_is_built_unless_it_lasts_long);
	tcase_add_test(tests, a_period_with_a_pause_in_it_does_not_count);
	tcase_add_test(tests, a_pause_within_it_is_still_one);
	tcase_add_test(tests, a_loop_that_waits_several_times_is_measured_as_one);
	tcase_add_test(tests, another_loop_is_measured_anew);
	tcase_add_test(tests, what_a_program_sets_up_with_is_no_loop);
	tcase_add_test(tests, a_loop_that_waits_no_more_is_another);
	tcase_add_test(tests, periods_with_other_ops_are_not_compared);
	tcase_add_test(tests, the_anchor_is_of_the_busiest_lane);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
