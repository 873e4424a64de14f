/* Turns in virtual time: verdicts, what is lost until there is one, and loops whose gain changes. A
 * period takes 100 us in the replaying arm, and varies by 40 %; one in a hundred is up to a hundred
 * times as long. */
#include "../../suite.h"
#include "base/tuning.h"
#include "noise.h"
#include "stats/turns.h"

#define PERIOD 100e3
#define SECOND UINT64_C(1000000000)

static struct reprise_turns turns;
static struct noise noise;
static uint64_t now;
static double lost;       /* what the worse arm took longer on average, in all */
static uint64_t in[2];    /* time in each arm */
static unsigned int over; /* periods at whose end more was lost than may be */

static void begin(uint64_t seed, double spread, double stalls)
{
	noise = (struct noise){seed * 2654435761u + 1, spread, stalls};
	now = 0;
	lost = 0;
	in[0] = in[1] = 0;
	over = 0;
	reprise_turns_begin(&turns, 0, (uint64_t)PERIOD, seed * 0x9e3779b97f4a7c15u, 0);
}

/* The loop runs on: an eager period takes `eager`, a replaying one `replay` on average. */
static void run(double eager, double replay, uint64_t until)
{
	double mean[2] = {[REPRISE_ARM_REPLAY] = replay, [REPRISE_ARM_EAGER] = eager};

	while (now < until) {
		enum reprise_arm arm = turns.arm;
		uint64_t period = noise_period(&noise, mean[arm]);

		now += period;
		in[arm] += period;
		lost += mean[arm] - (eager < replay ? eager : replay);
		reprise_turns_note(&turns, now, period, true, true);
		over += lost > 20e6 + (double)now / 100;
	}
}

/* ---- verdicts ---- */

static const struct {
	double gain;
	enum reprise_verdict right;
	unsigned int decided; /* in three seconds, of a hundred runs at least */
} gains[] = {
	{0.7, REPRISE_VERDICT_EAGER, 100},  {0.9, REPRISE_VERDICT_EAGER, 99},
	{0.97, REPRISE_VERDICT_EAGER, 50},  {1.0, REPRISE_VERDICT_UNDECIDED, 0},
	{1.03, REPRISE_VERDICT_REPLAY, 25}, {1.3, REPRISE_VERDICT_REPLAY, 99},
	{2.0, REPRISE_VERDICT_REPLAY, 99},
};

#define RUNS 300

/* It may be left as unclear. */
static bool is_small(double gain)
{
	return 1000 * gain < REPRISE_TUNE_TURNS_SMALL;
}

START_TEST(the_verdict_is_right)
{
	unsigned int wrong = 0, decided = 0, covers = 0, lost_more = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		enum reprise_verdict verdict;

		begin(seed, 0.4, 0.01);
		for (uint64_t at = SECOND / 100; at <= 3 * SECOND && turns.result.tests == 0;
		     at += SECOND / 100)
			run(PERIOD * gains[_i].gain, PERIOD, at);
		verdict = turns.result.verdict;
		decided += verdict != REPRISE_VERDICT_UNDECIDED;
		wrong += gains[_i].right != REPRISE_VERDICT_UNDECIDED &&
		         verdict != REPRISE_VERDICT_UNDECIDED && verdict != gains[_i].right &&
		         !(verdict == REPRISE_VERDICT_UNCLEAR && is_small(gains[_i].gain));
		covers += verdict != REPRISE_VERDICT_UNDECIDED &&
		          turns.result.low <= gains[_i].gain * 1000 + 1 &&
		          turns.result.high >= gains[_i].gain * 1000 - 1;
		lost_more += over > 0;
	}
	ck_assert_uint_le(wrong, RUNS / REPRISE_TUNE_PAIRS_ODDS);
	ck_assert_uint_ge(100 * decided, RUNS * gains[_i].decided);
	ck_assert_uint_ge(covers + RUNS / 33, decided);
	ck_assert_uint_le(lost_more, RUNS / 10);
}
END_TEST

START_TEST(no_difference_is_left_eager)
{
	begin(7, 0.01, 0);
	run(PERIOD, PERIOD, 3 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_EAGER);
	ck_assert_uint_lt(turns.result.high, REPRISE_TUNE_TURNS_WORTH);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_EAGER);
}
END_TEST

/* ---- a gain that is too small to be seen ---- */

START_TEST(a_test_that_shows_no_gain_ends)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		begin(seed, 0.4, 0.01);
		run(PERIOD * 1.005, PERIOD, 5 * SECOND);
		ck_assert_uint_ge(turns.result.tests, 1);
		if (turns.result.verdict != REPRISE_VERDICT_UNCLEAR)
			continue;
		ck_assert_uint_lt(turns.result.low, 1001);
		ck_assert_uint_gt(turns.result.high, REPRISE_TUNE_TURNS_WORTH);
		ck_assert(turns.testing || turns.arm == REPRISE_ARM_EAGER);
	}
}
END_TEST

START_TEST(after_a_test_that_shows_no_gain_most_of_the_time_is_eager)
{
	unsigned int unclear = 0;
	uint64_t replaying = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t before;

		begin(seed, 0.4, 0.01);
		for (uint64_t at = SECOND / 100; at <= 5 * SECOND && turns.result.tests == 0;
		     at += SECOND / 100)
			run(PERIOD * 1.005, PERIOD, at);
		if (turns.result.verdict != REPRISE_VERDICT_UNCLEAR)
			continue;
		unclear++;
		before = in[REPRISE_ARM_REPLAY];
		run(PERIOD * 1.005, PERIOD, now + 10 * SECOND);
		replaying += in[REPRISE_ARM_REPLAY] - before;
	}
	ck_assert_uint_ge(unclear, 10);
	ck_assert_uint_lt(replaying, unclear * 3 * SECOND / 2);
}
END_TEST

/* Where a small gain was seen before, a test that shows none of more than that changes nothing. */
START_TEST(a_small_gain_that_was_seen_stays_a_gain)
{
	begin(3, 0.05, 0);
	run(PERIOD * 1.03, PERIOD, SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	noise.spread = 0.6;
	run(PERIOD * 1.03, PERIOD, 60 * SECOND);
	ck_assert_uint_ge(turns.result.tests, 3);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
}
END_TEST

/* ---- a loop that is learnt while it is measured ---- */

#define OPS 100 /* of a period */

static double learnt;  /* the share that is replayed */
static double watched; /* what a period takes while nothing is, of an eager one */
static uint64_t ops, replayed;

/* Each replaying period learns one in `span` of what is left. It takes `watched` times as long as
 * an eager one while nothing is replayed, and 1 / 1.3 of it in the end. */
static void learn(double eager, double span, uint64_t until)
{
	while (now < until) {
		bool replays = turns.arm == REPRISE_ARM_REPLAY;
		double mean = replays ? eager * (watched - learnt * (watched - 1 / 1.3)) : eager;
		uint64_t period = noise_period(&noise, mean);

		now += period;
		lost += mean - eager;
		if (replays) {
			ops += OPS;
			replayed += (uint64_t)(OPS * learnt);
			learnt += (1 - learnt) / span;
		}
		reprise_turns_note_replayed(&turns, replayed, ops, 0);
		reprise_turns_note(&turns, now, period, true, true);
		over += lost > 20e6 + (double)now / 100;
	}
}

static void begin_to_learn(uint64_t seed, double eager)
{
	begin(seed, 0.1, 0.01);
	reprise_turns_begin(&turns, 0, (uint64_t)eager, seed * 0x9e3779b97f4a7c15u, 0);
	learnt = 0;
	watched = 1.15;
	ops = replayed = 0;
}

/* The pairs of a test are not held against what was learnt since. */
START_TEST(what_is_learnt_while_it_is_measured_is_replayed_soon)
{
	unsigned int right = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		begin_to_learn(seed, 1e6);
		learn(1e6, 100, SECOND);
		right += turns.result.verdict == REPRISE_VERDICT_REPLAY;
		ck_assert_uint_eq(over, 0);
	}
	ck_assert_uint_ge(right, 90);
}
END_TEST

/* Eight pairs that agree would end the test. Replaying never comes to gain here. */
START_TEST(what_is_still_learnt_is_not_left_eager)
{
	begin_to_learn(11, 1e6);
	for (unsigned int step = 0; step < 35; step++) {
		learnt = (double)step / 100;
		learn(1e6, 1e9, now + 5000000);
	}
	ck_assert_uint_gt(turns.result.turns, 16);
	ck_assert_uint_eq(turns.result.tests, 0);
}
END_TEST

/* Nothing is learnt in turns: what comes again has to come again for so many periods in a row,
 * between two turns that are eager. */
#define LESSON 20

static unsigned int lessons;

static bool is_lesson(void)
{
	return turns.phase == REPRISE_TURNS_REST && !turns.testing && turns.arm == REPRISE_ARM_REPLAY &&
	       turns.result.verdict != REPRISE_VERDICT_REPLAY;
}

static void learn_in_a_row(double eager, double gain, uint64_t until)
{
	static unsigned int in_a_row;

	for (; now < until; in_a_row++) {
		bool before = is_lesson();
		uint64_t lost_before = turns.result.lost_ns;

		learn(eager, 1e9, now + 1);
		if (is_lesson() && !before) { /* with the test's last pair, which counts for less */
			lessons++;
			ck_assert_uint_gt(turns.result.lost_ns, lost_before + 1000000);
			ck_assert_uint_lt(turns.result.lost_ns,
			                  lost_before + REPRISE_TUNE_LESSON_LOSES_NS + 1000000);
		}
		if (turns.arm == REPRISE_ARM_EAGER)
			in_a_row = 0;
		if (in_a_row > LESSON && gain > 1)
			learnt = 1;
	}
}

/* It gains when it is learnt. Eight pairs that agree say that watching costs. A test that has lost
 * much leaves no room for a lesson. */
START_TEST(where_little_is_replayed_replays_are_given_time)
{
	static const double eager[] = {2e5, 1e6};
	unsigned int right = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		begin_to_learn(seed, eager[_i]);
		watched = 1.06; /* triton_scalars, on an H200 */
		learn_in_a_row(eager[_i], 1.3, 2 * SECOND);
		right += turns.result.verdict == REPRISE_VERDICT_REPLAY;
		ck_assert_uint_eq(over, 0);
	}
	ck_assert_uint_ge(right, 17);
}
END_TEST

/* Once, if nothing is learnt then, either. */
START_TEST(where_nothing_is_learnt_they_are_not_again)
{
	unsigned int taught = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		begin_to_learn(seed, 1e6);
		watched = 1.06;
		lessons = 0;
		learn_in_a_row(1e6, 0, 10 * SECOND);
		ck_assert_int_ne(turns.result.verdict, REPRISE_VERDICT_REPLAY);
		ck_assert_uint_le(lessons, 1);
		taught += lessons;
		ck_assert_uint_eq(over, 0);
	}
	ck_assert_uint_ge(taught, 12);
}
END_TEST

/* jax_host_inputs: 4 of 1,000 ops are replayed, periods vary by 30 %, and no number of pairs shows
 * a gain. Three more that seem to gain than not would have it rest in replays, as where 20 are. */
START_TEST(where_next_to_nothing_is_replayed_rests_are_eager)
{
	for (unsigned int share = 4; share <= 20; share += 16) {
		double replays = 0, all = 0;

		for (uint64_t seed = 1; seed <= 20; seed++) {
			begin_to_learn(seed, 1e6);
			noise.spread = 0.3;
			watched = 1.02;
			learnt = share / 1000.0;
			for (; turns.result.tests == 0 && !turns.taught && now < 5 * SECOND; all++) {
				replays += turns.phase == REPRISE_TURNS_REST && turns.arm == REPRISE_ARM_REPLAY;
				learn(1e6, 1e9, now + 1);
			}
		}
		if (share == 4)
			ck_assert_double_eq(replays, 0);
		else
			ck_assert_double_gt(replays / all, 0.005);
	}
}
END_TEST

/* Where most is replayed, the verdict is what it says. */
START_TEST(what_is_learnt_and_does_not_gain_is_left)
{
	begin_to_learn(14, 1e6);
	watched = 1.6;
	learnt = 0.52; /* it takes 1.17 times as long as an eager one */
	learn(1e6, 1e9, 5 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_EAGER);
	ck_assert(!turns.taught);
}
END_TEST

/* ---- what is told ---- */

static bool tells(double gain, double within)
{
	double told = turns.result.gain / 1000.0;

	return told > gain * (1 - within) && told < gain * (1 + within);
}

/* A little more is replayed since the test's first turn, and replaying takes as long as eager
 * calls. */
START_TEST(what_is_still_learnt_is_not_left_as_unclear)
{
	begin_to_learn(12, 1e6);
	noise.spread = 0.3;
	learnt = 0.35;
	while (turns.pairs.count < 2)
		learn(1e6, 1e9, now + 1000000);
	learnt = 0.40;
	while (turns.result.turns < 2 * REPRISE_TUNE_TURNS_UNCLEAR_MOST + 16)
		learn(1e6, 1e9, now + 1000000);
	ck_assert_uint_eq(turns.result.tests, 0);
	while (turns.result.turns < 6 * REPRISE_TUNE_TURNS_UNCLEAR_MOST)
		learn(1e6, 1e9, now + 1000000);
	ck_assert_uint_gt(turns.result.tests, 0);
}
END_TEST

/* A test alone ends as soon as its pairs seem clear, and is within 3 % in half of these runs. */
START_TEST(what_is_told_is_of_all_tests_in_a_row)
{
	unsigned int right = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		begin(seed, 0.1, 0.01);
		reprise_turns_begin(&turns, 0, 1000000, seed * 0x9e3779b97f4a7c15u, 0);
		run(1.3e6, 1e6, 20 * SECOND);
		right += tells(1.3, 0.03);
	}
	ck_assert_uint_ge(right, 85);
}
END_TEST

/* Periods vary by 30 %. What is told is off by 3.5 % in the root mean square; 4.2 % if a test that
 * does not agree has all others forgotten, and 5.1 % with turns as long as each other that become
 * rare at once. */
START_TEST(much_noise_takes_more_pairs)
{
	double squares = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		begin(seed, 0.3, 0.01);
		reprise_turns_begin(&turns, 0, 1000000, seed * 0x9e3779b97f4a7c15u, 0);
		run(1.4e6, 1e6, 20 * SECOND);
		ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
		squares += pow(log(turns.result.gain / 1400.0), 2);
	}
	ck_assert_double_lt(sqrt(squares / 300), 0.037);
}
END_TEST

START_TEST(while_a_gain_is_told_roughly_tests_do_not_become_rare)
{
	unsigned int rough = 0, fine = 0;

	for (double spread = 0.02; spread < 1; spread *= 4) {
		begin(3, spread, 0);
		reprise_turns_begin(&turns, 0, 1000000, 12345, 0);
		for (uint64_t at = SECOND / 10; at < 20 * SECOND; at += SECOND / 10) {
			bool is_rough =
				reprise_pairs_are_rough(&turns.told, reprise_log2_of_thousandths(
														 1000 + REPRISE_TUNE_TURNS_ROUGH));

			if (turns.result.tests > 2 && is_rough)
				ck_assert_uint_eq(turns.pause_ns, REPRISE_TUNE_TURNS_REPLAY_NS);
			rough += turns.result.tests > 2 && is_rough;
			fine += turns.pause_ns / 2 > REPRISE_TUNE_TURNS_REPLAY_NS;
			run(1.4e6, 1e6, at);
		}
	}
	ck_assert_uint_gt(rough, 50);
	ck_assert_uint_gt(fine, 50);
}
END_TEST

START_TEST(a_gain_that_changes_is_told_as_it_is)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		begin(seed, 0.1, 0);
		reprise_turns_begin(&turns, 0, 1000000, seed * 0x9e3779b97f4a7c15u, 0);
		run(1.3e6, 1e6, 20 * SECOND);
		ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
		run(2e6, 1e6, 60 * SECOND);
		ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
		ck_assert(tells(2, 0.08));
	}
}
END_TEST

/* ---- what is lost ---- */

START_TEST(turns_become_rare)
{
	uint64_t early;

	begin(3, 0.1, 0);
	run(PERIOD * 2, PERIOD, SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	early = turns.result.turns;
	run(PERIOD * 2, PERIOD, 60 * SECOND);
	ck_assert_uint_lt(turns.result.turns, 6 * early);
	ck_assert_uint_lt(in[REPRISE_ARM_EAGER], SECOND / 10);
	ck_assert_uint_eq(over, 0);
}
END_TEST

START_TEST(what_does_not_gain_is_tried_again_after_pauses_that_double)
{
	uint64_t tests;

	begin(4, 0.1, 0);
	run(PERIOD * 0.6, PERIOD, 2 * SECOND);
	tests = turns.result.tests;
	ck_assert_uint_ge(tests, 2);
	run(PERIOD * 0.6, PERIOD, 60 * SECOND);
	ck_assert_uint_gt(turns.result.tests, tests);
	ck_assert_uint_lt(turns.result.tests, 10);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_EAGER);
	ck_assert_uint_eq(over, 0);
}
END_TEST

/* As much is lost with a pause of a minute as without it, to the nanosecond, and as many turns
 * come: neither does the time in which something may be lost run on, nor that of a rest. The pause
 * is in
 * the first rest of a loop that gains, or in the first test of one of which it shows nothing. */
static const struct {
	double gain;
	bool testing;
	enum reprise_verdict verdict; /* of the first test, in some runs */
} pauses[] = {{1.3, false, REPRISE_VERDICT_REPLAY}, {1.03, true, REPRISE_VERDICT_UNCLEAR}};

START_TEST(in_a_pause_no_time_passes)
{
	unsigned int right = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		double eager = PERIOD * pauses[_i].gain, lost_without;
		uint64_t turns_without, length;

		begin(seed, 0.4, 0.01);
		while (turns.result.tests == 0)
			run(eager, PERIOD, now + 1);
		right += turns.result.verdict == pauses[_i].verdict;
		length = now + 20 * SECOND;
		run(eager, PERIOD, length);
		lost_without = lost;
		turns_without = turns.result.turns;
		begin(seed, 0.4, 0.01);
		while (pauses[_i].testing ? turns.pairs.count < 2 : turns.result.tests == 0)
			run(eager, PERIOD, now + 1);
		now += 60 * SECOND;
		reprise_turns_leave_out(&turns, 60 * SECOND);
		run(eager, PERIOD, length + 60 * SECOND);
		ck_assert_double_eq(lost, lost_without);
		ck_assert_uint_eq(turns.result.turns, turns_without);
	}
	ck_assert_uint_gt(right, 0);
}
END_TEST

/* Ranks rest until a time that all of them know. */
START_TEST(a_rank_rests_until_it_would_have_without_a_pause)
{
	uint64_t until;

	begin(6, 0.1, 0);
	reprise_turns_begin(&turns, 0, (uint64_t)PERIOD, 99, SECOND);
	while (turns.result.tests == 0)
		run(PERIOD * 1.3, PERIOD, now + 1);
	until = turns.rest_until_ns;
	reprise_turns_leave_out(&turns, SECOND);
	ck_assert_uint_eq(turns.rest_until_ns, until);
}
END_TEST

START_TEST(a_pair_waits_until_it_may_cost_so_much)
{
	begin(5, 0.05, 0);
	turns.period_ns = SECOND / 10;
	reprise_turns_begin(&turns, 0, SECOND / 10, 99, 0);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_EAGER);
	run(SECOND / 10, SECOND / 15, 5 * SECOND);
	ck_assert_uint_eq(turns.result.turns, 0);
	now += 60 * SECOND;
	reprise_turns_leave_out(&turns, 60 * SECOND);
	run(SECOND / 10, SECOND / 15, now + SECOND / 2);
	ck_assert_uint_eq(turns.result.turns, 0);
	run(SECOND / 10, SECOND / 15, 120 * SECOND);
	ck_assert_uint_gt(turns.result.turns, 0);
}
END_TEST

/* In a turn of one period the program does something else for five seconds, once. */
START_TEST(a_stall_is_no_loss_of_five_seconds)
{
	enum reprise_arm arm = _i == 0 ? REPRISE_ARM_REPLAY : REPRISE_ARM_EAGER;

	noise = (struct noise){4711, 0.05, 0};
	now = 0;
	reprise_turns_begin(&turns, 0, 25000000, 99, 0);
	while (turns.phase == REPRISE_TURNS_REST || turns.skip > 0 || turns.arm != arm)
		run(24e6, 20e6, now + 1);
	ck_assert_uint_eq(turns.wanted, 1);
	now += 5 * SECOND;
	reprise_turns_note(&turns, now, 5 * SECOND, true, true);
	run(24e6, 20e6, now + 20 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_lt(turns.result.lost_ns, SECOND);
}
END_TEST

START_TEST(the_order_of_a_pair_is_random)
{
	unsigned int pairs = 0, eager_first = 0, phase = REPRISE_TURNS_REST;

	begin(10, 0.4, 0.01);
	for (unsigned int i = 0; i < 60000; i++) {
		now += (uint64_t)PERIOD;
		if (turns.phase == REPRISE_TURNS_FIRST && phase != REPRISE_TURNS_FIRST) {
			pairs++;
			eager_first += turns.arm == REPRISE_ARM_EAGER;
		}
		phase = turns.phase;
		reprise_turns_note(&turns, now, noise_period(&noise, PERIOD), true, true);
	}
	ck_assert_uint_gt(pairs, 100);
	ck_assert_uint_gt(eager_first, pairs / 3);
	ck_assert_uint_lt(eager_first, pairs - pairs / 3);
}
END_TEST

START_TEST(what_is_lost_is_told)
{
	begin(6, 0.02, 0);
	run(PERIOD * 1.5, PERIOD, SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_double_eq_tol((double)turns.result.lost_ns, lost, lost / 5);
}
END_TEST

/* ---- gains that change ---- */

START_TEST(a_gain_that_turns_into_a_loss_is_noticed_and_so_is_its_return)
{
	begin((uint64_t)_i + 1, 0.1, 0);
	run(PERIOD * 1.3, PERIOD, 5 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	run(PERIOD * 1.3, PERIOD * 1.9, 10 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_EAGER);
	ck_assert_uint_eq(over, 0);
	run(PERIOD * 1.3, PERIOD,
	    60 * SECOND); /* only a test shows it: eager takes as long as before */
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
}
END_TEST

/* The eager turns before the verdict took longer than the bound would allow. That is no debt: the
 * next test begins at once. */
START_TEST(a_slow_loop_whose_gain_turns_into_a_loss_is_noticed_too)
{
	double before;

	begin(11, 0.02, 0);
	reprise_turns_begin(&turns, 0, 10000000, 99, 0);
	run(20e6, 10e6, 10 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	before = lost;
	run(20e6, 25e6, 40 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_EAGER);
	ck_assert_double_lt(lost - before, 1.5e9);
}
END_TEST

/* ---- what is not compared ---- */

START_TEST(a_period_of_something_else_does_not_count)
{
	begin(8, 0.01, 0);
	for (unsigned int i = 0; i < 1000; i++)
		reprise_turns_note(&turns, now += 1000000, 1000000, false, true);
	ck_assert_uint_eq(turns.result.turns, 0);
	ck_assert_uint_eq(turns.count, 0);
}
END_TEST

START_TEST(a_turn_that_is_given_up_is_none)
{
	begin(9, 0.01, 0);
	run(PERIOD * 2, PERIOD, SECOND / 1000);
	ck_assert_int_ne(turns.phase, REPRISE_TURNS_REST);

	uint64_t complete = turns.result.turns;

	ck_assert_int_eq(reprise_turns_give_up(&turns), REPRISE_ARM_EAGER);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
	ck_assert_uint_eq(turns.result.turns, complete);
	run(PERIOD * 2, PERIOD, SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
}
END_TEST

/* Whatever its pairs say: what gains may be left eager for its processor time. */
START_TEST(a_rest_that_is_interrupted_goes_on)
{
	begin(9, 0.1, 0);
	run(PERIOD * 2, PERIOD, SECOND);
	ck_assert_int_eq(reprise_turns_give_up(&turns), REPRISE_ARM_REPLAY);
	turns.result.verdict = REPRISE_VERDICT_COSTLY;
	turns.arm = REPRISE_ARM_EAGER;
	ck_assert_int_eq(reprise_turns_give_up(&turns), REPRISE_ARM_EAGER);
	turns.result.verdict = REPRISE_VERDICT_REPLAY;
	turns.phase = REPRISE_TURNS_CHECK;
	ck_assert_int_eq(reprise_turns_give_up(&turns), REPRISE_ARM_REPLAY);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
}
END_TEST

/* ---- what is not looked at ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* After each window of an eager rest, and not beyond its end. */
START_TEST(an_eager_rest_is_looked_at_once_in_a_while)
{
	unsigned int looked_away = 0, periods = 0;

	begin(10, 0.01, 0);
	run(PERIOD / 2, PERIOD, SECOND / 10);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_EAGER);
	for (; !turns.testing; periods++) {
		now += (uint64_t)PERIOD / 2;
		reprise_turns_note(&turns, now, (uint64_t)PERIOD / 2, true, true);
		if (turns.unseen_until_ns == 0)
			continue;
		ck_assert_uint_eq(turns.unseen_until_ns,
		                  least(now + REPRISE_TUNE_UNSEEN_NS, turns.rest_until_ns));
		looked_away++;
		now = turns.unseen_until_ns;
	}
	ck_assert_uint_ge(looked_away, 4);
	ck_assert_uint_le(periods, (looked_away + 1) * (REPRISE_TUNE_TURNS_WINDOW + 1));
}
END_TEST

START_TEST(a_rest_of_replays_is_looked_at_all_the_time)
{
	begin(10, 0.01, 0);
	run(PERIOD * 2, PERIOD, SECOND / 10);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	for (unsigned int i = 0; i < 1000; i++) {
		now += (uint64_t)PERIOD;
		reprise_turns_note(&turns, now, (uint64_t)PERIOD, true, true);
		ck_assert_uint_eq(turns.unseen_until_ns, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("turns");
	TCase *tests = tcase_create("turns");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, the_verdict_is_right, 0, sizeof(gains) / sizeof(*gains));
	tcase_add_test(tests, no_difference_is_left_eager);
	tcase_add_test(tests, a_test_that_shows_no_gain_ends);
	tcase_add_test(tests, after_a_test_that_shows_no_gain_most_of_the_time_is_eager);
	tcase_add_test(tests, a_small_gain_that_was_seen_stays_a_gain);
	tcase_add_test(tests, what_is_learnt_while_it_is_measured_is_replayed_soon);
	tcase_add_test(tests, what_is_still_learnt_is_not_left_eager);
	tcase_add_test(tests, what_is_still_learnt_is_not_left_as_unclear);
	tcase_add_loop_test(tests, where_little_is_replayed_replays_are_given_time, 0, 2);
	tcase_add_test(tests, where_nothing_is_learnt_they_are_not_again);
	tcase_add_test(tests, where_next_to_nothing_is_replayed_rests_are_eager);
	tcase_add_test(tests, what_is_learnt_and_does_not_gain_is_left);
	tcase_add_test(tests, what_is_told_is_of_all_tests_in_a_row);
	tcase_add_test(tests, much_noise_takes_more_pairs);
	tcase_add_test(tests, while_a_gain_is_told_roughly_tests_do_not_become_rare);
	tcase_add_test(tests, a_gain_that_changes_is_told_as_it_is);
	tcase_add_test(tests, turns_become_rare);
	tcase_add_test(tests, what_does_not_gain_is_tried_again_after_pauses_that_double);
	tcase_add_loop_test(tests, in_a_pause_no_time_passes, 0, sizeof(pauses) / sizeof(*pauses));
	tcase_add_test(tests, a_rank_rests_until_it_would_have_without_a_pause);
	tcase_add_test(tests, a_pair_waits_until_it_may_cost_so_much);
	tcase_add_loop_test(tests, a_stall_is_no_loss_of_five_seconds, 0, 2);
	tcase_add_test(tests, the_order_of_a_pair_is_random);
	tcase_add_test(tests, what_is_lost_is_told);
	tcase_add_loop_test(tests, a_gain_that_turns_into_a_loss_is_noticed_and_so_is_its_return, 0,
	                    20);
	tcase_add_test(tests, a_slow_loop_whose_gain_turns_into_a_loss_is_noticed_too);
	tcase_add_test(tests, a_period_of_something_else_does_not_count);
	tcase_add_test(tests, a_turn_that_is_given_up_is_none);
	tcase_add_test(tests, a_rest_that_is_interrupted_goes_on);
	tcase_add_test(tests, an_eager_rest_is_looked_at_once_in_a_while);
	tcase_add_test(tests, a_rest_of_replays_is_looked_at_all_the_time);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
