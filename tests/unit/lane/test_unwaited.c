/*
 * Turns of loops that do not wait, in virtual time: which op is their anchor, and what the GPU's
 * backlog has to do with the verdict. The GPU takes its time for each op (driver.h).
 */
#include "../../suite.h"
#include "base/clock.h"
#include "base/tuning.h"
#include "lane/eager.h"
#include "lane/turns.h"
#include "program.h"

#define SECOND UINT64_C(1000000000)
#define AHEAD 2000000 /* ns that the host may be ahead */
#define EAGER_NS 300  /* without cuts, graphs are long: this makes a gain of about two */
#define GRAPH_NS 10000
#define QUERY_NS 50

static void setup(void)
{
	static const char *const options[] = {"REPRISE_TURNS=1", "REPRISE_PAYS=assumed",
	                                      "REPRISE_SUBMIT=never", NULL};

	program_begins_with(options);
	reprise_turns_start();
	driver.ahead_ns = AHEAD;
	driver.eager_ns = EAGER_NS;
	driver.graph_ns = GRAPH_NS;
	driver.query_ns = QUERY_NS;
	driver.work_ns = 10;
	driver_saw();
}

static struct reprise_turns_result result(void)
{
	return reprise_turns_read().result;
}

static void runs_for(uint64_t ns, const char *period)
{
	uint64_t until = reprise_clock_virtual + ns;

	while (reprise_clock_virtual < until) {
		calls(period);
		graphs_are_built();
		driver_saw();
	}
}

/* Until a test has come to an end. */
static void is_tested(const char *period)
{
	uint64_t tests = result().tests;

	for (unsigned int i = 0; result().tests == tests; i++) {
		ck_assert_uint_lt(i, 1000);
		runs_for(SECOND / 100, period);
	}
}

/* ---- the GPU's backlog ---- */

/* Of an op, in nanoseconds: what the host takes in either arm. */
static double eager(void)
{
	return EAGER_NS + PROGRAM_GAP_NS;
}

static double replay(void)
{
	return PROGRAM_GAP_NS + GRAPH_NS * (double)counted()->launches / (double)counted()->replayed;
}

static double longer(double a, double b)
{
	return a > b ? a : b;
}

static void gains_as_expected(void)
{
	double gain =
		longer(eager(), (double)driver.work_ns) / longer(replay(), (double)driver.work_ns);

	ck_assert_double_eq_tol(result().gain / 1e3, gain, 0.05 * gain);
}

/* What the GPU takes for an op, and what is said then. The host takes 400 and 204. */
static const struct {
	uint64_t gpu;
	enum reprise_verdict verdict;
} backlogs[] = {
	{10, REPRISE_VERDICT_REPLAY},  {95, REPRISE_VERDICT_REPLAY}, /* idle before the next launch, and
                                                                    never right after one */
	{215, REPRISE_VERDICT_REPLAY}, {230, REPRISE_VERDICT_REPLAY}, {260, REPRISE_VERDICT_REPLAY},
	{300, REPRISE_VERDICT_REPLAY}, {370, REPRISE_VERDICT_REPLAY}, {600, REPRISE_VERDICT_BOUND},
};

START_TEST(a_loop_counts_by_what_it_takes)
{
	driver.work_ns = backlogs[_i].gpu;
	is_tested("a b c d");
	ck_assert_int_eq(result().verdict, backlogs[_i].verdict);
	ck_assert_ptr_eq(reprise_turns_lane(), lane_of(1));
	if (backlogs[_i].verdict == REPRISE_VERDICT_BOUND)
		ck_assert(reprise_eager_turn());
	else
		gains_as_expected();
}
END_TEST

/* An eager call of the host's is as long as ten of the GPU's: it catches up within a period. */
START_TEST(a_short_backlog_counts)
{
	double gain = (10 * EAGER_NS + PROGRAM_GAP_NS) / 300.0;

	driver.eager_ns = 10 * EAGER_NS;
	driver.work_ns = 300;
	is_tested("a b c d");
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_double_le(result().gain / 1e3, gain);
	ck_assert_double_gt(result().gain / 1e3, 0.75 * gain); /* the first graph comes late */
}
END_TEST

START_TEST(what_does_not_gain_is_left_eager)
{
	driver.graph_ns = 10 * GRAPH_NS;
	is_tested("a b c d");
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_EAGER);
	runs_for(SECOND / 10, "a b c d");
	ck_assert_uint_lt(result().lost_ns, 20000000);
}
END_TEST

/* Queries come once in a turn, and none in a rest. */
START_TEST(streams_are_queried_only_where_turns_end)
{
	unsigned int before;

	is_tested("a b c d");
	ck_assert_uint_gt(driver.queries, 0);
	ck_assert_uint_le(driver.queries, 4 * result().turns);
	before = driver.queries;
	runs_for(REPRISE_TUNE_TURNS_REPLAY_NS / 2, "a b c d");
	ck_assert_uint_eq(driver.queries, before);
}
END_TEST

/* ---- the anchor ---- */

/* Loops in which the first op's key comes again within the period, some of it uneven. */
static const char *const repeats[] = {
	"a b a c a d a e",
	"a a a b",
	"a b c a b d a b e f",
	"a b c d e f g h a b c d e f g i",
};

/* Both arms see the same periods: as many ops in an eager one as in a replaying one. */
START_TEST(both_arms_have_the_same_periods)
{
	is_tested(repeats[_i]);
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_REPLAY);
	gains_as_expected();
}
END_TEST

/* It waits once in many periods. Such a period is not compared: what it waits for is others' work.
 */
START_TEST(a_wait_now_and_then_does_not_count)
{
	for (unsigned int i = 0; result().tests == 0; i++) {
		ck_assert_uint_lt(i, 300000);
		calls("a b c d");
		if (i % 20000 == 0) {
			calls("|");
			reprise_clock_virtual += 10000000;
		}
		graphs_are_built();
		driver_saw();
	}
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_REPLAY);
	gains_as_expected();
}
END_TEST

/* Its waits come at so many different distances that no number of visits makes a period: its other
 * ops do. After its waits the GPU is not behind, whatever it does at the anchor. */
START_TEST(a_loop_that_waits_more_often_is_known_by_any_op)
{
	driver.work_ns = 500;
	for (unsigned int i = 0; result().tests == 0; i++) {
		ck_assert_uint_lt(i, 60000);
		calls("z y x");
		for (unsigned int wait = 0; wait < 20; wait++) {
			calls("a b c d");
			for (unsigned int more = 0; more < wait; more++)
				calls("e f");
			calls("|");
			if (driver.done_ns > reprise_clock_virtual)
				reprise_clock_virtual = driver.done_ns;
		}
		graphs_are_built();
		driver_saw();
	}
	ck_assert_int_ne(result().verdict, REPRISE_VERDICT_UNDECIDED);
	ck_assert_int_ne(result().verdict, REPRISE_VERDICT_BOUND);
}
END_TEST

/* Bodies that come in no order: no op comes at a regular distance, nor does any wait. */
static const char *const bodies[] = {"a b c d e f", "a b g c", "d d d a b c e f g h", "b a c",
                                     "h g f e d c b a a b c d e f g h"};

static void runs_unevenly(const char *after)
{
	static uint64_t random = 1;
	uint64_t tests = result().tests;

	for (unsigned int i = 0; result().tests == tests; i++) {
		ck_assert_uint_lt(i, 300000);
		random = random * 6364136223846793005u + 1442695040888963407u;
		calls(bodies[(random >> 33) % 5]);
		calls(after);
		graphs_are_built();
		driver_saw();
	}
}

static const struct {
	const char *after;
	uint64_t graph_ns;
	enum reprise_verdict verdict;
} uneven[] = {
	{"", 500, REPRISE_VERDICT_REPLAY},
	{"|", 500, REPRISE_VERDICT_REPLAY},
	{"", 2 * EAGER_NS * 10, REPRISE_VERDICT_EAGER},
	{"|", 2 * EAGER_NS * 10, REPRISE_VERDICT_EAGER},
};

START_TEST(a_loop_without_an_anchor_counts_by_the_op)
{
	driver.graph_ns = uneven[_i].graph_ns;
	runs_unevenly(uneven[_i].after);
	ck_assert_int_eq(result().verdict, uneven[_i].verdict);
	ck_assert(reprise_turns_read().measuring);
	ck_assert_uint_le(result().loops, 2); /* eight periods may have been alike by chance */
	if (uneven[_i].verdict == REPRISE_VERDICT_EAGER)
		ck_assert_uint_lt(result().lost_ns, 20000000 + reprise_clock_virtual / 100);
}
END_TEST

/* Graphs are never ready, so nothing is replayed: turns say that there is no gain. */
START_TEST(a_loop_that_is_never_replayed_is_left_eager)
{
	uint64_t began = reprise_clock_virtual;

	while (result().tests == 0) {
		ck_assert_uint_lt(reprise_clock_virtual - began, 4 * SECOND);
		calls("a b c d");
		driver_saw();
	}
	ck_assert_uint_gt(counted()->ops, REPRISE_TUNE_ANCHOR_UNREPLAYED_OPS);
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_EAGER);
	ck_assert(reprise_eager_turn());
	ck_assert_uint_eq(counted()->replayed, 0);
}
END_TEST

/* Also where the program pauses every few milliseconds. Paused time does not count. */
START_TEST(a_loop_that_pauses_is_left_eager_all_the_same)
{
	uint64_t began = reprise_clock_virtual, paused = 0;

	while (result().tests == 0) {
		ck_assert_uint_lt(reprise_clock_virtual - began - paused, 4 * SECOND);
		for (unsigned int i = 0; i < 2000; i++) { /* enough for a pair of turns */
			calls("a b c d");
			driver_saw();
		}
		reprise_pause_begin();
		reprise_clock_virtual += SECOND / 100;
		paused += SECOND / 100;
		reprise_pause_end();
	}
	ck_assert_uint_gt(counted()->ops, REPRISE_TUNE_ANCHOR_UNREPLAYED_OPS);
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_EAGER);
}
END_TEST

/* A thread that waits is there: its waits make the anchor. */
START_TEST(a_loop_that_waits_goes_before)
{
	driver.graph_ns = EAGER_NS;
	is_tested("a b c d |");
	ck_assert_uint_eq(driver.queries, 0);
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_REPLAY);
}
END_TEST

START_TEST(another_loop_is_measured_anew)
{
	driver.graph_ns = 10 * GRAPH_NS;
	is_tested("a b c d");
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_EAGER);
	ck_assert(reprise_eager_turn());
	driver.graph_ns = GRAPH_NS;
	runs_for(3 * SECOND, "e f g h");
	ck_assert_uint_eq(result().loops, 2);
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_REPLAY);
	ck_assert(!reprise_eager_turn());
}
END_TEST

/* Periods with waits are no longer as the others were: they are measured anew, and the GPU is not
 * asked any more. */
START_TEST(a_loop_that_comes_to_wait_is_another)
{
	unsigned int before;

	is_tested("a b c d");
	driver.graph_ns = EAGER_NS;
	runs_for(SECOND / 2, "a b c d |");
	before = driver.queries;
	ck_assert_uint_eq(result().loops, 2);
	runs_for(SECOND / 2, "a b c d |");
	ck_assert_uint_eq(result().loops, 2);
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(driver.queries, before);
}
END_TEST

/* It is left for a loop that waits, on another stream. */
START_TEST(a_loop_that_ends_is_left_for_one_that_waits)
{
	is_tested("a b c d");
	driver.graph_ns = EAGER_NS;
	runs_for(2 * SECOND, "2:e 2:f 2:g 2:h |");
	ck_assert_ptr_eq(reprise_turns_lane(), lane_of(2));
	ck_assert_uint_eq(result().loops, 2);
	ck_assert_int_eq(result().verdict, REPRISE_VERDICT_REPLAY);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, unwaited");
	TCase *tests = tcase_create("unwaited");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, a_loop_counts_by_what_it_takes, 0,
	                    sizeof(backlogs) / sizeof(*backlogs));
	tcase_add_test(tests, a_short_backlog_counts);
	tcase_add_test(tests, what_does_not_gain_is_left_eager);
	tcase_add_test(tests, streams_are_queried_only_where_turns_end);
	tcase_add_loop_test(tests, both_arms_have_the_same_periods, 0,
	                    sizeof(repeats) / sizeof(*repeats));
	tcase_add_test(tests, a_wait_now_and_then_does_not_count);
	tcase_add_test(tests, a_loop_that_waits_more_often_is_known_by_any_op);
	tcase_add_loop_test(tests, a_loop_without_an_anchor_counts_by_the_op, 0,
	                    sizeof(uneven) / sizeof(*uneven));
	tcase_add_test(tests, a_loop_that_is_never_replayed_is_left_eager);
	tcase_add_test(tests, a_loop_that_pauses_is_left_eager_all_the_same);
	tcase_add_test(tests, a_loop_that_waits_goes_before);
	tcase_add_test(tests, another_loop_is_measured_anew);
	tcase_add_test(tests, a_loop_that_comes_to_wait_is_another);
	tcase_add_test(tests, a_loop_that_ends_is_left_for_one_that_waits);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
