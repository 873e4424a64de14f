/* Complete visits that are left to the launch thread: nothing passes them, and what the driver gets
 * of them is what the program asked for. Each visit is left to it here that can be. */
#include <stdio.h>

#include "../../suite.h"
#include "base/clock.h"
#include "base/tuning.h"
#include "lane/async_launch.h"
#include "program.h"

#define US UINT64_C(1000)
#define DUE (250 * US)

static void setup(void)
{
	static const char *const options[] = {"REPRISE_SUBMIT=always", NULL};

	program_begins_with(options);
}

/* The visit that learns a trace ends in a wait, which launches it. */
static void learns_one(void)
{
	learns("a b c d |", "[a b c d]");
}

START_TEST(the_launch_thread_launches_it)
{
	learns_one();
	CALLS_ARE_SEEN_AS("a b c d", "");
	launch_thread_looks();
	IS_SEEN("[a b c d]");
	CALLS_ARE_SEEN_AS("|", "");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_async_launches), 1);
}
END_TEST

START_TEST(never_if_not_wanted)
{
	static const char *const options[] = {"REPRISE_SUBMIT=never", NULL};

	program_begins_with(options);
	learns_one();
	CALLS_ARE_SEEN_AS("a b c d", "[a b c d]");
	launch_thread_looks();
	IS_SEEN("");
}
END_TEST

/* ---- order ---- */

/* Two traces, one behind the other. */
#define FIRST "a b c d e f g h i j k l m n o p q r s t u v w y"
#define SECOND "A B C D"

static void learns_two(void)
{
	learns(FIRST " " SECOND " |", "[" FIRST "] [" SECOND "]");
}

static const struct {
	const char *call, *seen;
} behind[] = {
	{"x", "[" FIRST "] x"},       /* an op that is eager */
	{"|", "[" FIRST "]"},         /* a wait */
	{"/", "[" FIRST "]"},         /* a call that orders the stream */
	{">e", "[" FIRST "] >e"},     /* an event */
	{"A |", "[" FIRST "] (A)"},   /* a visit that is left, by a wait */
	{"A x", "[" FIRST "] (A) x"}, /* and by an op */
	{"2:z", "[" FIRST "] 2:z"},   /* what may wait for all work */
};

START_TEST(it_is_launched_before_what_comes_behind)
{
	learns_two();
	CALLS_ARE_SEEN_AS(FIRST, "");
	CALLS_ARE_SEEN_AS(behind[_i].call, behind[_i].seen);
	launch_thread_looks();
	IS_SEEN("");
}
END_TEST

START_TEST(another_stream_leaves_it_pending)
{
	learns_one();
	CALLS_ARE_SEEN_AS("a b c d 2:x", "2:x");
	launch_thread_looks();
	IS_SEEN("[a b c d]");
}
END_TEST

START_TEST(pending_visits_are_launched_in_order)
{
	learns_two();
	CALLS_ARE_SEEN_AS(FIRST " " SECOND, "");
	launch_thread_looks();
	IS_SEEN("[" FIRST "] [" SECOND "]");
	CALLS_ARE_SEEN_AS("|", "");
	CALLS_ARE_SEEN_AS(FIRST " A B x", "[" FIRST "] (A) (B) x");
}
END_TEST

/* A loop without a wait: as many visits are pending as there is room for, and the next one is
 * launched behind them. */
START_TEST(when_the_queue_is_full_the_program_launches)
{
	uint64_t launches;
	unsigned int visits;

	for (unsigned int visit = 0; visit < 200; visit++) {
		calls("a b c d e f");
		graphs_are_built();
	}
	calls("/");
	driver_saw();
	launches = driver.launches;
	for (visits = 0; driver.launches == launches && visits < 1000; visits++)
		calls("a b c d e f");
	ck_assert_uint_eq(driver.launches - launches, REPRISE_PENDING_MOST + 1);
}
END_TEST

/* The trace holds what the pending launch asks for: it is launched before that changes. */
START_TEST(each_visit_is_launched_with_its_own_values)
{
	learns_any_value();
	CALLS_ARE_SEEN_AS("a b c3000 d", "");
	launch_thread_looks();
	IS_SEEN("[a b c3000 d]");
	calls("|");
	CALLS_ARE_SEEN_AS("a b c3001 d", "");
	CALLS_ARE_SEEN_AS("|", "[a b c3001 d]");
	CALLS_ARE_SEEN_AS("a b c3001 d", "");
	launch_thread_looks();
	IS_SEEN("[a b c3001 d]");
}
END_TEST

/* A loop without a wait: its traces are followed again while launches of them are pending, and
 * bring other values each time. */
START_TEST(other_values_wait_for_the_pending_ones)
{
	char called[4096] = "", *end = called;
	unsigned int launches;

	driver.quiet = true;
	for (unsigned int visit = 10000; visit < 16000; visit++) {
		calls_with("a b c%u d e f", visit);
		graphs_are_built();
	}
	calls("/");
	driver.quiet = false;
	launches = driver.launches;
	for (unsigned int visit = 20000; visit < 20200; visit++) {
		calls_with("a b c%u d e f", visit);
		end += sprintf(end, "%sa b c%u d e f", end == called ? "" : " ", visit);
	}
	calls("/");
	ck_assert_uint_gt(driver.launches, launches);
	ck_assert_str_eq(driver_saw_work(), called);
}
END_TEST

/* ---- the hold limit ---- */

/* The driver may keep the launch thread: then the hold thread launches. */
START_TEST(the_hold_thread_launches_what_is_due)
{
	uint64_t begin;

	learns_one();
	calls("a");
	begin = lane_of(1)->visit_since;
	calls("b c d");
	time_passes(begin + DUE - 1 - reprise_clock_virtual);
	IS_SEEN("");
	time_passes(1);
	IS_SEEN("[a b c d]");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_hold_flushes), 1);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_hold_overruns), 0);
	time_passes(10 * DUE);
	IS_SEEN("");
	ck_assert_ptr_null((void *)(uintptr_t)atomic_load(&lane_of(1)->deferred_since));
}
END_TEST

/* What is deferred behind a pending visit counts from its own first op. */
START_TEST(a_visit_behind_it_is_due_later)
{
	learns_two();
	calls(FIRST);
	time_passes(DUE - 20 * US);
	calls("A B");
	IS_SEEN("");
	time_passes(20 * US);
	IS_SEEN("[" FIRST "]");
	time_passes(DUE - 30 * US);
	IS_SEEN("");
	time_passes(30 * US);
	IS_SEEN("(A) (B)");
}
END_TEST

/* ---- failures ---- */

START_TEST(a_launch_that_fails_is_made_good_eagerly)
{
	struct reprise_lane_counts before;

	learns_one();
	before = *counted();
	driver.refuses_launches = 1;
	CALLS_ARE_SEEN_AS("a b c d", "");
	launch_thread_looks();
	IS_SEEN("(a) (b) (c) (d)");
	calls("|");
	ck_assert_uint_eq(counted()->launches, before.launches);
	ck_assert_uint_eq(counted()->replayed, before.replayed);
	ck_assert_uint_eq(counted()->exits[REPRISE_EXIT_launch], 1);
	ck_assert_uint_eq(counted()->exited[REPRISE_EXIT_launch], 4);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_launches_failed), 1);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_async_launches), 0);
	CALLS_ARE_SEEN_AS("a b c d |", "[a b c d]");
	ck_assert_uint_eq(counted()->launches, before.launches + 1);
	ck_assert_uint_eq(counted()->ops, before.ops + 8);
}
END_TEST

START_TEST(values_of_a_failed_launch_are_issued)
{
	learns_any_value();
	driver.refuses_launches = 1;
	CALLS_ARE_SEEN_AS("a b c3000 d |", "(a) (b) (c3000) (d)");
	CALLS_ARE_SEEN_AS("a b c3001 d |", "[a b c3001 d]");
}
END_TEST

/* The trace has the values that the graph could not be given: the next visit with these brings the
 * graph to them. */
START_TEST(values_of_a_failed_patch_are_issued)
{
	learns_any_value();
	driver.refuses_nodes = driver.refuses_updates = true;
	CALLS_ARE_SEEN_AS("a b c3000 d |", "(a) (b) (c3000) (d)");
	driver.refuses_nodes = driver.refuses_updates = false;
	CALLS_ARE_SEEN_AS("a b c3000 d |", "[a b c3000 d]");
	ck_assert_uint_eq(counted()->exits[REPRISE_EXIT_launch], 1);
}
END_TEST

START_TEST(what_comes_behind_a_failed_launch_stays_behind)
{
	learns_two();
	driver.refuses_launches = 1;
	CALLS_ARE_SEEN_AS(
		FIRST " " SECOND " x",
		"(a) (b) (c) (d) (e) (f) (g) (h) (i) (j) (k) (l) (m) (n) (o) (p) (q) (r) (s) (t) (u) (v) (w) (y) [" SECOND
		"] x");
	ck_assert_uint_eq(counted()->exited[REPRISE_EXIT_launch], 24);
}
END_TEST

/* The ops were answered with success: what the driver says later is kept. */
START_TEST(errors_are_kept)
{
	learns_one();
	driver.refuses_launches = 1;
	driver.refuses = 'c';
	CALLS_ARE_SEEN_AS("a b c d x", "(a) (b) (c)! (d) x");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_errors_kept), 1);
}
END_TEST

/* ---- which visits are left to the thread, if that is to be found out ---- */

/* A loop that waits once in so many iterations, and that the launch thread looks at in between; how
 * many visits that has launched. */
static uint64_t left_to_thread_in_loop(uint64_t gap_ns, unsigned int iterations)
{
	static const char *const options[] = {"REPRISE_SUBMIT=auto", NULL};

	program_begins_with(options);
	driver.quiet = true;
	for (unsigned int i = 1; i <= 2000 + 4 * iterations; i++) {
		reprise_clock_virtual += gap_ns;
		calls("a b c");
		reprise_clock_virtual += gap_ns;
		calls("d e f");
		launch_thread_looks();
		graphs_are_built();
		if (i % iterations == 0)
			calls("|");
	}
	ck_assert_uint_gt(driver.launches, 100);
	return count_of(REPRISE_COUNT_async_launches);
}

START_TEST(those_of_a_slow_program)
{
	ck_assert_uint_gt(left_to_thread_in_loop(30 * US, 100), 100);
}
END_TEST

/* Turns have shown that the thread takes too much. */
START_TEST(none_where_the_program_is_to_launch_all)
{
	reprise_async_launch_direct(true);
	ck_assert_uint_eq(left_to_thread_in_loop(30 * US, 100), 0);
	ck_assert_uint_eq(reprise_async_launched(), 0);
}
END_TEST

/* It was asked for. */
START_TEST(all_the_same_where_they_are_wanted)
{
	reprise_async_launch_direct(true);
	learns_one();
	CALLS_ARE_SEEN_AS("a b c d", "");
	ck_assert_uint_eq(reprise_async_launched(), 0); /* it is not for Reprise to decide */
	launch_thread_looks();
	IS_SEEN("[a b c d]");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_async_launches), 1);
	ck_assert_uint_eq(reprise_async_launched(), 0);
}
END_TEST

START_TEST(not_those_of_a_fast_one)
{
	ck_assert_uint_eq(left_to_thread_in_loop(0, 2000), 0);
}
END_TEST

/* At a wait the GPU is behind by what came since the thread looked last. */
START_TEST(not_those_of_one_that_waits_often)
{
	ck_assert_uint_eq(left_to_thread_in_loop(30 * US, 5), 0);
}
END_TEST

/* The program would wait in the end for what it saves. */
START_TEST(few_where_the_gpu_is_no_faster)
{
	uint64_t idle = left_to_thread_in_loop(30 * US, 100);

	driver.busy = true;
	atomic_store(&reprise_counters[REPRISE_COUNT_async_launches], 0);
	ck_assert_uint_lt(left_to_thread_in_loop(30 * US, 100), idle / 4);
}
END_TEST

/* ---- each of the reasons for and against it ---- */

/* A lane whose program is slow and far from its next wait, and a visit of this trace. */
static struct reprise_trace visited;

static struct reprise_lane *slow_lane(void)
{
	static const char *const options[] = {"REPRISE_SUBMIT=auto", NULL};
	struct reprise_lane *lane;

	program_begins_with(options);
	lane = lane_of(1);
	lane->trace = &visited;
	lane->pace = (struct reprise_pace){.visits = REPRISE_TUNE_PACE_FIRST + 1,
	                                   .begin_ns = 1,
	                                   .op_ns = REPRISE_TUNE_PACE_SLOW_NS,
	                                   .span_ns = REPRISE_TUNE_PACE_LEAST_NS};
	return lane;
}

/* So many visits are launched at once before one is left to the thread. */
static unsigned int at_once(struct reprise_lane *lane)
{
	unsigned int count = 0;

	while (!reprise_async_launch_decide(lane))
		ck_assert_uint_le(++count, 10000);
	return count;
}

START_TEST(visits_that_the_host_waits_for_are_launched_at_once_for_a_while)
{
	struct reprise_lane *lane = slow_lane();

	ck_assert_uint_eq(at_once(lane), 0);
	for (unsigned int i = 0; i < 12; i++) {
		visited.waited_for = true;
		ck_assert_uint_eq(at_once(lane), REPRISE_TUNE_LAUNCH_DIRECT);
	}
	ck_assert_uint_eq(at_once(lane), 0); /* the host has not waited for the last one */
}
END_TEST

/* So many visits are left to the thread, of which the program has to launch so many. */
static void left(struct reprise_lane *lane, unsigned int visits, unsigned int forced)
{
	for (unsigned int i = 0; i < visits; i++) {
		ck_assert_uint_eq(at_once(lane), 0);
		visited.forced += i < forced;
	}
}

START_TEST(visits_that_come_too_late_are_launched_at_once_for_ever_longer)
{
	struct reprise_lane *lane = slow_lane();
	unsigned int direct = REPRISE_TUNE_LAUNCH_DIRECT, half = REPRISE_TUNE_LAUNCH_JUDGED / 2;

	left(lane, REPRISE_TUNE_LAUNCH_JUDGED, half + 1);
	for (unsigned int i = 0; i < REPRISE_TUNE_LAUNCH_DOUBLED + 3; i++) {
		ck_assert_uint_eq(at_once(lane), direct);
		visited.forced++; /* of the one that at_once() has left */
		left(lane, REPRISE_TUNE_LAUNCH_JUDGED - 1, half);
		direct *= i < REPRISE_TUNE_LAUNCH_DOUBLED ? 2 : 1;
	}
	at_once(lane);
	left(lane, REPRISE_TUNE_LAUNCH_JUDGED - 1, half); /* not more than half */
	left(lane, REPRISE_TUNE_LAUNCH_JUDGED, half + 1);
	ck_assert_uint_eq(at_once(lane), REPRISE_TUNE_LAUNCH_DIRECT); /* from the beginning */
}
END_TEST

static const struct {
	unsigned int visits;
	uint64_t op_ns, span_ns;
	int lead;
	bool left;
	uint64_t visit_ns;
} paces[] = {
#define SLOW REPRISE_TUNE_PACE_SLOW_NS, REPRISE_TUNE_PACE_LEAST_NS
	{10, SLOW, 0, true, REPRISE_TUNE_PACE_SPARSE_NS},
	{10, SLOW, 0, false, REPRISE_TUNE_PACE_SPARSE_NS + 1},
	{REPRISE_TUNE_PACE_FIRST, SLOW, 0, false, 0},
	{REPRISE_TUNE_PACE_FIRST + 1, SLOW, 0, true, 0},
	{REPRISE_TUNE_PACE_MOST - 1, SLOW, 0, true, 0},
	{REPRISE_TUNE_PACE_MOST, SLOW, 0, false, 0},
	{10, REPRISE_TUNE_PACE_SLOW_NS - 1, REPRISE_TUNE_PACE_LEAST_NS, 0, false, 0},
	{10, REPRISE_TUNE_PACE_SLOW_NS, REPRISE_TUNE_PACE_LEAST_NS - 1, 0, false, 0},
	{10, SLOW, REPRISE_TUNE_PACE_LEAD_MOST, true, 0},
	{10, SLOW, 1 - REPRISE_TUNE_PACE_LEAD_MOST, true, 0},
	{10, SLOW, -REPRISE_TUNE_PACE_LEAD_MOST, false, 0},
	{10, SLOW, -REPRISE_TUNE_PACE_LEAD_MOST - 1, false, 0},
};

START_TEST(the_pace_decides)
{
	struct reprise_lane *lane = slow_lane();

	lane->pace.visits = paces[_i].visits;
	lane->pace.op_ns = paces[_i].op_ns;
	lane->pace.span_ns = paces[_i].span_ns;
	lane->pace.visit_ns = paces[_i].visit_ns;
	lane->pace.lead = paces[_i].lead;
	ck_assert_int_eq(reprise_async_launch_decide(lane), paces[_i].left);
}
END_TEST

START_TEST(after_many_visits_at_once_the_gpu_is_looked_at_again)
{
	struct reprise_lane *lane = slow_lane();

	for (unsigned int i = 0; i < 3; i++) {
		lane->pace.lead = -REPRISE_TUNE_PACE_LEAD_MOST;
		ck_assert_uint_eq(at_once(lane), REPRISE_TUNE_PACE_DIRECT - 1);
		ck_assert_int_eq(lane->pace.lead, 0);
		ck_assert_uint_eq(at_once(lane), 0);
	}
}
END_TEST

START_TEST(a_busy_gpu_counts_twice)
{
	struct reprise_lane *lane = slow_lane();
	int lead = 0;

	for (unsigned int i = 0; i < 100; i++) {
		bool busy = i / 10 % 2 == 1 || i % 3 == 0;

		lead = busy ? lead - 2 : lead + 1;
		if (lead > REPRISE_TUNE_PACE_LEAD_MOST)
			lead = REPRISE_TUNE_PACE_LEAD_MOST;
		if (lead < -REPRISE_TUNE_PACE_LEAD_MOST - 1) /* two at a time */
			lead += 2;
		reprise_pace_look(lane, busy);
		ck_assert_int_eq(lane->pace.lead, lead);
	}
}
END_TEST

/* From a visit until the next wait, or for so many visits. */
START_TEST(the_pace_is_measured)
{
	struct reprise_lane *lane = slow_lane();
	struct reprise_pace *pace = &lane->pace;

	pace->begin_ns = 0;
	reprise_pace_judge(lane);
	ck_assert_uint_eq(pace->begin_ns, reprise_clock_virtual);
	ck_assert_uint_eq(pace->begin_ops, lane->counts.ops);
	lane->counts.ops += 10;
	reprise_clock_virtual += 70000;
	reprise_pace_judge(lane); /* it goes on */
	lane->counts.ops += 4;
	reprise_clock_virtual += 70000;
	reprise_pace_wait(lane);
	ck_assert_uint_eq(pace->span_ns, 140000);
	ck_assert_uint_eq(pace->op_ns, 10000);
	ck_assert_uint_eq(pace->visit_ns, 140000);
	ck_assert_uint_eq(pace->visits, 0);
	ck_assert_uint_eq(pace->begin_ns, 0);
	pace->visits = REPRISE_TUNE_PACE_MEASURED - 1;
	reprise_pace_judge(lane);
	lane->counts.ops += 2;
	reprise_clock_virtual += 3000;
	reprise_pace_visit(lane);
	reprise_pace_judge(lane);
	ck_assert_uint_eq(pace->span_ns, 3000);
	ck_assert_uint_eq(pace->op_ns, 1500);
	ck_assert_uint_eq(pace->visit_ns, 1500); /* the time goes on until the next visit */
	ck_assert_uint_eq(pace->begin_ns, reprise_clock_virtual); /* the next one */
	reprise_clock_virtual += 5000;
	reprise_pace_wait(lane); /* without an op */
	ck_assert_uint_eq(pace->span_ns, 3000);
	ck_assert_uint_eq(pace->op_ns, 1500);
}
END_TEST

static void what_an_eager_call_costs_is_known(void)
{
	for (unsigned int i = 0; i < 2 * REPRISE_TUNE_EAGER_TIMED; i++)
		calls("x |");
}

/* A launch that costs the program nothing is a gain of the whole visit, where gains count. */
START_TEST(pending_visits_count_in_the_balance)
{
	static const char *const options[] = {"REPRISE_SUBMIT=always", NULL};
	const struct reprise_trace *trace;

	program_begins_with(options);
	what_an_eager_call_costs_is_known();
	learns_one();
	trace = lane_of(1)->index->newest;
	for (unsigned int visit = 0; visit < 20; visit++) {
		int before = trace->balance;
		bool counts = before < REPRISE_TUNE_BALANCE_TRUSTED ||
		              (trace->visits + 1) % REPRISE_TUNE_BALANCE_SAMPLED == 0;

		calls("a b c d");
		ck_assert_int_eq(trace->balance, before + (counts ? REPRISE_TUNE_BALANCE_VISIT : 0));
		launch_thread_looks();
		calls("|");
	}
	ck_assert_int_ge(trace->balance, REPRISE_TUNE_BALANCE_TRUSTED);
}
END_TEST

START_TEST(nothing_counts_where_a_gain_is_assumed)
{
	static const char *const options[] = {"REPRISE_SUBMIT=always", "REPRISE_PAYS=assumed", NULL};

	program_begins_with(options);
	what_an_eager_call_costs_is_known();
	learns_one();
	calls("a b c d");
	launch_thread_looks();
	calls("| a b c d |");
	ck_assert_int_eq(lane_of(1)->index->newest->balance, 0);
}
END_TEST

/* ---- host functions that the stream has not done ---- */

START_TEST(no_visit_begins_while_many_host_functions_may_be_pending)
{
	struct reprise_lane *lane = lane_of(1);
	uint64_t *functions = &lane->counts.kinds[REPRISE_OP_HOST];

	for (unsigned int time = 0; time < 3; time++) {
		driver.busy = true;
		for (unsigned int i = 1; i < REPRISE_TUNE_BACKLOG_FUNCTIONS; i++) {
			if (i % 2 == 0)
				++*functions;
			else
				reprise_note_callback(driver_stream(1), false);
			ck_assert(reprise_backlog_is_small(lane));
		}
		++*functions;
		for (unsigned int ask = 1; ask <= 3; ask++) {
			driver.busy = true;
			ck_assert(!reprise_backlog_is_small(lane));
			ck_assert_uint_eq(count_of(REPRISE_COUNT_functions_behind), 3 * time + ask);
			driver.busy = false; /* which is not asked at once */
			for (unsigned int op = 1; op < REPRISE_TUNE_BACKLOG_AGAIN; op++) {
				lane->counts.ops++;
				ck_assert(!reprise_backlog_is_small(lane));
			}
			lane->counts.ops++;
		}
		ck_assert(reprise_backlog_is_small(lane));
		ck_assert_uint_eq(count_of(REPRISE_COUNT_functions_behind), 3 * time + 3);
	}
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("pending");
	TCase *tests = tcase_create("always"), *found_out = tcase_create("auto");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, the_launch_thread_launches_it);
	tcase_add_test(tests, never_if_not_wanted);
	tcase_add_test(tests, all_the_same_where_they_are_wanted);
	tcase_add_loop_test(tests, it_is_launched_before_what_comes_behind, 0,
	                    sizeof(behind) / sizeof(*behind));
	tcase_add_test(tests, another_stream_leaves_it_pending);
	tcase_add_test(tests, pending_visits_are_launched_in_order);
	tcase_add_test(tests, when_the_queue_is_full_the_program_launches);
	tcase_add_test(tests, each_visit_is_launched_with_its_own_values);
	tcase_add_test(tests, other_values_wait_for_the_pending_ones);
	tcase_add_test(tests, the_hold_thread_launches_what_is_due);
	tcase_add_test(tests, a_visit_behind_it_is_due_later);
	tcase_add_test(tests, a_launch_that_fails_is_made_good_eagerly);
	tcase_add_test(tests, values_of_a_failed_launch_are_issued);
	tcase_add_test(tests, values_of_a_failed_patch_are_issued);
	tcase_add_test(tests, what_comes_behind_a_failed_launch_stays_behind);
	tcase_add_test(tests, errors_are_kept);
	tcase_add_test(found_out, those_of_a_slow_program);
	tcase_add_test(found_out, none_where_the_program_is_to_launch_all);
	tcase_add_test(found_out, not_those_of_a_fast_one);
	tcase_add_test(found_out, not_those_of_one_that_waits_often);
	tcase_add_test(found_out, few_where_the_gpu_is_no_faster);
	tcase_add_test(found_out, visits_that_the_host_waits_for_are_launched_at_once_for_a_while);
	tcase_add_test(found_out, visits_that_come_too_late_are_launched_at_once_for_ever_longer);
	tcase_add_loop_test(found_out, the_pace_decides, 0, ALL(paces));
	tcase_add_test(found_out, after_many_visits_at_once_the_gpu_is_looked_at_again);
	tcase_add_test(found_out, a_busy_gpu_counts_twice);
	tcase_add_test(found_out, the_pace_is_measured);
	tcase_add_test(found_out, pending_visits_count_in_the_balance);
	tcase_add_test(found_out, nothing_counts_where_a_gain_is_assumed);
	tcase_add_test(tests, no_visit_begins_while_many_host_functions_may_be_pending);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, found_out);
	return run_suite(suite);
}
