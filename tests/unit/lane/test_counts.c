/* What is counted of each way that a visit can go: these counters, by so much, and no others. Times
 * are those of the virtual clock. */
#include <stdio.h>
#include <string.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/capture_lock.h"
#include "graph/cost.h"
#include "lane/async_launch.h"
#include "lane/registry.h"
#include "lane/traces.h"
#include "op/cost.h"
#include "program.h"

static const char *const names[] = {
#define X(name, text) #name,
	REPRISE_COUNTERS(X)
#undef X
};

static const char *const costs[] = {
#define X(name, ns, text) #name,
	REPRISE_COSTS(X)
#undef X
};

/* Each estimate begins with this, so that one measurement shows. */
#define COST_BEFORE UINT64_C(1000000)

/* What the lane of stream 1, or its group's head, counts; exits by reason. */
#define LANE_COUNTS(X) \
	X(ops) X(launches) X(replayed) X(patched) X(siblings) X(backed_off) X(traces) X(queue_full) \
		X(lost) X(evicted)

static uint64_t before[REPRISE_COUNTER_COUNT];
static struct reprise_lane_counts lane_before;
static char text[2048];

static const struct reprise_lane_counts *of_lane(void)
{
	return &reprise_lane_head(lane_of(1))->counts;
}

static void look(void)
{
	for (unsigned int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		before[i] = count_of((enum reprise_counter)i);
	for (unsigned int i = 0; i < REPRISE_COST_COUNT; i++)
		atomic_store(&reprise_cost_estimates[i], COST_BEFORE);
	lane_before = *of_lane();
}

static void say(const char *name, uint64_t amount)
{
	size_t length = strlen(text);

	if (amount != 0)
		snprintf(text + length, sizeof(text) - length, "%s%s %lld", length > 0 ? ", " : "", name,
		         (long long)amount);
}

/* What has changed since look(). */
static const char *changes(void)
{
	const struct reprise_lane_counts *now = of_lane();

	text[0] = '\0';
#define X(name) say(#name, now->name - lane_before.name);
	LANE_COUNTS(X)
#undef X
	for (unsigned int i = 0; i < REPRISE_EXIT_COUNT; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s exits", reprise_exit_names[i]);
		say(name, now->exits[i] - lane_before.exits[i]);
		snprintf(name, sizeof(name), "%s exited", reprise_exit_names[i]);
		say(name, now->exited[i] - lane_before.exited[i]);
	}
	for (unsigned int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		say(names[i], count_of((enum reprise_counter)i) - before[i]);
	for (unsigned int i = 0; i < REPRISE_COST_COUNT; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s picoseconds", costs[i]);
		say(name, atomic_load(&reprise_cost_estimates[i]) - COST_BEFORE);
	}
	return text;
}

#define CALLS_COUNT(words, expected) \
	do { \
		look(); \
		calls(words); \
		ck_assert_str_eq(changes(), expected); \
	} while (0)

START_TEST(an_eager_op)
{
	watches_up_to(1);
	calls("x |");
	CALLS_COUNT("x |", "ops 1");
	CALLS_COUNT("", "");
}
END_TEST

START_TEST(a_replay)
{
	learns("a b c d |", "[a b c d]");
	CALLS_COUNT("a b c d |", "ops 4, launches 1, replayed 4, launch picoseconds 1250000");
}
END_TEST

START_TEST(a_visit_that_is_left)
{
	learns("a b c d |", "[a b c d]");
	CALLS_COUNT("a b x |", "ops 3, guard exits 1, guard exited 2, eager picoseconds 362501");
}
END_TEST

START_TEST(a_visit_that_a_wait_ends)
{
	learns("a b c d |", "[a b c d]");
	CALLS_COUNT("a b c |", "ops 3, barrier exits 1, barrier exited 3, eager picoseconds 362501");
}
END_TEST

START_TEST(a_value_miss)
{
	learns("a b c d |", "[a b c d]");
	CALLS_COUNT("a b c7 d |", "ops 4, values exits 1, values exited 2, eager picoseconds 362501");
}
END_TEST

START_TEST(a_visit_that_takes_too_long)
{
	learns("a b c d |", "[a b c d]");
	look();
	calls("a b");
	time_passes(250000);
	ck_assert_str_eq(
		changes(),
		"ops 2, hold exits 1, hold exited 2, hold_flushes 1, hold_begun_ns 250000, hold_longest_ns 257800, eager picoseconds 362501");
}
END_TEST

START_TEST(a_patch_by_nodes)
{
	learns_any_value();
	CALLS_COUNT(
		"a b c3000 d |",
		"ops 4, launches 1, replayed 4, patched 1, node_patches 1, node_updates 1, node_update_ns 600, node_set picoseconds -49999, launch picoseconds 1250000");
}
END_TEST

START_TEST(a_patch_by_the_whole_graph)
{
	learns_any_value();
	driver.refuses_nodes = true;
	CALLS_COUNT(
		"a b c3000 d |",
		"ops 4, launches 1, replayed 4, patched 1, updates 1, node_updates_failed 1, capture picoseconds -124999, update picoseconds -124999, launch picoseconds 1250000");
	CALLS_COUNT(
		"a b c3001 d |",
		"ops 4, launches 1, replayed 4, patched 1, updates 1, node_updates_failed 1, capture picoseconds -124999, update picoseconds -124999, launch picoseconds 1250000");
}
END_TEST

static CUresult CUDAAPI refuse_capture(CUstream stream, CUstreamCaptureMode mode)
{
	return CUDA_ERROR_OUT_OF_MEMORY;
}

START_TEST(a_patch_whose_capture_fails)
{
	learns_any_value();
	driver.refuses_nodes = true;
	reprise_driver.cuStreamBeginCapture_v2 = refuse_capture;
	CALLS_COUNT(
		"a b c3000 d |",
		"ops 4, launch exits 1, launch exited 4, updates_failed 1, node_updates_failed 1, eager picoseconds 362501");
}
END_TEST

START_TEST(a_patch_that_is_refused)
{
	learns_any_value();
	driver.refuses_nodes = driver.refuses_updates = true;
	CALLS_COUNT(
		"a b c3000 d |",
		"ops 4, launch exits 1, launch exited 4, updates_refused 1, refused_parameters 1, node_updates_failed 1, capture picoseconds -124999, eager picoseconds 362501");
	CALLS_COUNT("a b c2000 d |", "ops 4, launches 1, replayed 4, recovery_ops 4");
}
END_TEST

/* A capture for the update would make the program's call fail. It is no failure of the graph. */
START_TEST(a_patch_beside_a_call_for_the_whole_context)
{
	learns_any_value();
	driver.refuses_nodes = true;
	reprise_context_sync_begin((CUcontext)1);
	CALLS_COUNT(
		"a b c3000 d |",
		"ops 4, launch exits 1, launch exited 4, node_updates_failed 1, eager picoseconds 362501");
	reprise_context_sync_end((CUcontext)1);
	CALLS_COUNT("a b c2000 d |", "ops 4, launches 1, replayed 4");
}
END_TEST

START_TEST(a_graph_that_is_refused_again_and_again_is_built_anew)
{
	learns_any_value();
	driver.refuses_nodes = driver.refuses_updates = true;
	look();
	for (unsigned int visit = 1; count_of(REPRISE_COUNT_rebuilds) == 0; visit++) {
		ck_assert_uint_le(visit, REPRISE_TUNE_REBUILD_AFTER);
		calls_with("a b c%u d |", 3000 + visit);
		ck_assert_uint_eq(count_of(REPRISE_COUNT_updates_refused), visit);
	}
	ck_assert_uint_eq(count_of(REPRISE_COUNT_updates_refused), REPRISE_TUNE_REBUILD_AFTER);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_rebuilds), 1);
}
END_TEST

START_TEST(a_launch_that_is_refused)
{
	learns("a b c d |", "[a b c d]");
	driver.refuses_launches = 1;
	CALLS_COUNT(
		"a b c d |",
		"ops 4, launch exits 1, launch exited 4, rebuilds 1, launches_failed 1, eager picoseconds 362501");
	graphs_are_built();
	CALLS_COUNT("a b c d |", "ops 4");
}
END_TEST

/* So many side exits that the trace is left alone for a while; then that is over. */
START_TEST(a_return_from_a_cooldown)
{
	const struct reprise_trace *trace;

	learns("a b c d |", "[a b c d]");
	trace = lane_of(1)->index->newest;
	for (unsigned int visit = 0; visit < 20 && trace->cooldown_until == 0; visit++)
		calls("a b x |");
	CALLS_COUNT("a b c d |", "ops 4");
	while (counted()->ops < trace->cooldown_until)
		calls("x |");
	CALLS_COUNT("a b c d |",
	            "ops 4, launches 1, replayed 4, cooldown_returns 1, launch picoseconds 1250000");
	CALLS_COUNT("a b c d |", "ops 4, launches 1, replayed 4, launch picoseconds 1250000");
}
END_TEST

/* In a cooldown, and with a graph that is built anew. */
START_TEST(a_return_from_a_failure)
{
	const struct reprise_trace *trace;
	char expected[128];
	uint64_t failed_at;

	learns("a b c d |", "[a b c d]");
	trace = lane_of(1)->index->newest;
	driver.refuses_launches = 1;
	calls("a b c d |");
	failed_at = counted()->ops;
	ck_assert_uint_gt(trace->cooldown_until, failed_at);
	graphs_are_built();
	while (counted()->ops < trace->cooldown_until)
		calls("x |");
	snprintf(
		expected, sizeof(expected),
		"ops 4, launches 1, replayed 4, recovery_ops %u, cooldown_returns 1, launch picoseconds 1250000",
		(unsigned int)(counted()->ops + 4 - failed_at));
	CALLS_COUNT("a b c d |", expected);
	CALLS_COUNT("a b c d |", "ops 4, launches 1, replayed 4, launch picoseconds 1250000");
}
END_TEST

/* Another one is replayed in its place meanwhile, and one elsewhere tells nothing. */
START_TEST(a_return_of_what_failed_in_another_sequence)
{
	const struct reprise_trace *trace;

	learns("a b c d |", "[a b c d]");
	trace = lane_of(1)->index->newest;
	driver.refuses_launches = 1;
	calls("a b c d |");
	learns("e b c d |", "[e b c d]");
	learns("e a c d |", "[e a c d]");
	ck_assert_uint_eq(count_of(REPRISE_COUNT_recovery_ops), 0);
	learns("a b c d e |", "[a b c d e]");
	ck_assert_uint_gt(trace->cooldown_until, counted()->ops);
	ck_assert_uint_gt(count_of(REPRISE_COUNT_recovery_ops), 0);
	ck_assert_ptr_null(lane_of(1)->failed);
}
END_TEST

/* What failed last may be given up before it comes back. */
START_TEST(a_failure_of_what_is_given_up)
{
	learns("a b c d |", "[a b c d]");
	driver.refuses_launches = 1;
	calls("a b c d |");
	ck_assert_ptr_eq(lane_of(1)->failed, lane_of(1)->index->newest);
	graphs_are_built();
	reprise_lane_drop(lane_of(1), lane_of(1)->index->newest);
	ck_assert_ptr_null(lane_of(1)->failed);
}
END_TEST

START_TEST(an_error_of_a_deferred_op)
{
	learns("a b c d |", "[a b c d]");
	driver.refuses = 'a';
	CALLS_COUNT(
		"a b |",
		"ops 2, barrier exits 1, barrier exited 2, errors_kept 1, eager picoseconds 362501");
}
END_TEST

START_TEST(an_op_that_is_scanned)
{
	CALLS_COUNT("x |", "ops 1, backed_off 1");
}
END_TEST

START_TEST(an_op_that_is_observed)
{
	reprise_observing = true;
	CALLS_COUNT("x |", "ops 1");
}
END_TEST

START_TEST(traces_that_are_made)
{
	watches_up_to(1);
	calls("a b c d | a b c d |");
	CALLS_COUNT("a b c d |", "ops 4, traces 1");
}
END_TEST

START_TEST(a_sibling)
{
	learns("a b c d |", "[a b c d]");
	learns("a b e f |", "[a b e f]");
	CALLS_COUNT("a b c d |",
	            "ops 4, launches 1, replayed 4, siblings 1, launch picoseconds 1250000");
	CALLS_COUNT("a b e f |",
	            "ops 4, launches 1, replayed 4, siblings 1, launch picoseconds 1250000");
}
END_TEST

#define FORK "a >e 2:<e 2:b 2:>f c <f d"
#define FORKED "[a >e b >f c d >_]"

START_TEST(streams_that_merge)
{
	watches_up_to(2);
	for (unsigned int i = 1; i < REPRISE_TUNE_GROUP_FORKS; i++)
		CALLS_COUNT(FORK " |", "ops 3"); /* events are not counted before */
	CALLS_COUNT(FORK " |", "ops 3, lanes_merged 1");
	CALLS_COUNT(FORK " |", "ops 8");
}
END_TEST

START_TEST(a_fork)
{
	learns(FORK " |", FORKED);
	CALLS_COUNT(FORK " |",
	            "ops 8, launches 1, replayed 8, group_launches 1, launch picoseconds 1250000");
	CALLS_COUNT("2:x |", "ops 1, pending_waits_issued 1");
	CALLS_COUNT(
		FORK " |",
		"ops 8, group_uncovered 1"); /* stream 1 is not behind x: the graph would overtake it */
	CALLS_COUNT("a >e 2:<e 2:x |",
	            "ops 4, guard exits 1, guard exited 3, eager picoseconds 362501");
}
END_TEST

/* ---- visits that are left to the launch thread ---- */

static void all_are_left_to_the_thread(void)
{
	static const char *const options[] = {"REPRISE_SUBMIT=always", NULL};

	program_begins_with(options);
}

START_TEST(a_launch_by_the_thread)
{
	learns("a b c d |", "[a b c d]");
	CALLS_COUNT("a b c d", "ops 4");
	look();
	launch_thread_looks();
	ck_assert_str_eq(changes(), "launches 1, replayed 4, async_launches 1");
	CALLS_COUNT("|", "");
}
END_TEST

START_TEST(a_launch_that_a_wait_makes)
{
	learns("a b c d |", "[a b c d]");
	CALLS_COUNT("a b c d |", "ops 4, launches 1, replayed 4, launches_forced 1");
}
END_TEST

/* Its time is not the program's. */
START_TEST(a_patch_by_the_thread)
{
	learns_any_value();
	CALLS_COUNT("a b c3000 d", "ops 4");
	look();
	launch_thread_looks();
	ck_assert_str_eq(
		changes(),
		"launches 1, replayed 4, patched 1, node_patches 1, node_updates 1, async_launches 1, async_patches 1, node_set picoseconds -49999, launch picoseconds 1250000");
	CALLS_COUNT("|", "");
}
END_TEST

START_TEST(a_patch_that_a_wait_makes)
{
	learns_any_value();
	CALLS_COUNT(
		"a b c3000 d |",
		"ops 4, launches 1, replayed 4, patched 1, node_patches 1, node_updates 1, node_update_ns 600, launches_forced 1, node_set picoseconds -49999, launch picoseconds 1250000");
}
END_TEST

START_TEST(a_launch_by_the_thread_that_is_refused)
{
	learns("a b c d |", "[a b c d]");
	driver.refuses_launches = 1;
	calls("a b c d");
	look();
	launch_thread_looks();
	ck_assert_str_eq(changes(), "launch exits 1, launch exited 4, launches_failed 1");
	CALLS_COUNT("|", "");
}
END_TEST

/* ---- observing: what would be counted, and nothing that a graph would take ---- */

static void observes(const char *option)
{
	const char *const options[] = {option, NULL};

	program_begins_with(options);
	reprise_observing = true;
}

static void is_observed(const char *words)
{
	for (unsigned int visit = 0; visit < 20; visit++)
		calls(words);
}

START_TEST(without_the_thread_the_program_launches)
{
	learns("a b c d |", "[a b c d]");
	atomic_store(&reprise_async_launch_worker.state, REPRISE_WORKER_ABSENT);
	CALLS_COUNT("a b c d |",
	            "ops 4, launches 1, replayed 4, threads_failed 1, launch picoseconds 1250000");
}
END_TEST

START_TEST(an_observed_replay)
{
	observes("REPRISE_SUBMIT=never");
	is_observed("a b c d |");
	CALLS_COUNT("a b c d |", "ops 4, launches 1, replayed 4");
	CALLS_COUNT("a b x |", "ops 3, guard exits 1, guard exited 2");
}
END_TEST

START_TEST(an_observed_launch_by_the_thread)
{
	observes("REPRISE_SUBMIT=always");
	is_observed("a b c d |");
	CALLS_COUNT("a b c d |", "ops 4, launches 1, replayed 4, async_launches 1");
	CALLS_COUNT("a b c d a b c d |", "ops 8, launches 2, replayed 8, async_launches 2");
}
END_TEST

/* Two of the four ops have new values each time. */
START_TEST(an_observed_patch)
{
	observes(_i == 0 ? "REPRISE_SUBMIT=never" : "REPRISE_SUBMIT=always");
	for (unsigned int visit = 1000; visit < 1040; visit++) {
		calls_with("a b%u c", visit);
		calls_with("d%u |", visit);
	}
	CALLS_COUNT("a b3000 c d |",
	            _i == 0 ? "ops 4, launches 1, replayed 4, patched 2"
	                    : "ops 4, launches 1, replayed 4, patched 2, async_launches 1, "
	                      "async_patches 2");
	CALLS_COUNT("a b3000 c d7 |",
	            _i == 0 ? "ops 4, launches 1, replayed 4, patched 1"
	                    : "ops 4, launches 1, replayed 4, patched 1, async_launches 1, "
	                      "async_patches 1");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, counts");
	TCase *tests = tcase_create("counts"), *pending = tcase_create("pending"),
		  *observed = tcase_create("observed");

	tcase_add_checked_fixture(tests, program_begins, NULL);
	tcase_add_test(tests, an_eager_op);
	tcase_add_test(tests, an_op_that_is_scanned);
	tcase_add_test(tests, an_op_that_is_observed);
	tcase_add_test(tests, a_replay);
	tcase_add_test(tests, a_visit_that_is_left);
	tcase_add_test(tests, a_visit_that_a_wait_ends);
	tcase_add_test(tests, a_value_miss);
	tcase_add_test(tests, a_visit_that_takes_too_long);
	tcase_add_test(tests, a_patch_by_nodes);
	tcase_add_test(tests, a_patch_by_the_whole_graph);
	tcase_add_test(tests, a_patch_whose_capture_fails);
	tcase_add_test(tests, a_patch_that_is_refused);
	tcase_add_test(tests, a_patch_beside_a_call_for_the_whole_context);
	tcase_add_test(tests, a_graph_that_is_refused_again_and_again_is_built_anew);
	tcase_add_test(tests, a_launch_that_is_refused);
	tcase_add_test(tests, a_return_from_a_cooldown);
	tcase_add_test(tests, a_return_from_a_failure);
	tcase_add_test(tests, a_return_of_what_failed_in_another_sequence);
	tcase_add_test(tests, a_failure_of_what_is_given_up);
	tcase_add_test(tests, an_error_of_a_deferred_op);
	tcase_add_test(tests, traces_that_are_made);
	tcase_add_test(tests, a_sibling);
	tcase_add_test(tests, streams_that_merge);
	tcase_add_test(tests, a_fork);
	tcase_add_checked_fixture(pending, all_are_left_to_the_thread, NULL);
	tcase_add_test(pending, a_launch_by_the_thread);
	tcase_add_test(pending, a_launch_that_a_wait_makes);
	tcase_add_test(pending, a_patch_by_the_thread);
	tcase_add_test(pending, a_patch_that_a_wait_makes);
	tcase_add_test(pending, a_launch_by_the_thread_that_is_refused);
	tcase_add_test(pending, without_the_thread_the_program_launches);
	tcase_add_test(observed, an_observed_replay);
	tcase_add_test(observed, an_observed_launch_by_the_thread);
	tcase_add_loop_test(observed, an_observed_patch, 0, 2);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, pending);
	suite_add_tcase(suite, observed);
	return run_suite(suite);
}
