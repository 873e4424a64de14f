/* Turns period by period, without noise: how long each lasts, what it weighs and what is lost, when
 * the next pair and the next test begin, and in which arm the process rests until then. */
#include "../../suite.h"
#include "base/tuning.h"
#include "stats/turns.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define BEGUN (77 * SECOND)

static struct reprise_turns turns;
static uint64_t now;

/* What the process has used, and uses in a period of each arm, and in a turn's first. 0: that is
 * not known. */
static struct {
	uint64_t ns, of[2], first;
	uint64_t ops, ops_of[2]; /* of the loop */
} processor;

static void begin(uint64_t period)
{
	processor.ns = processor.of[0] = processor.of[1] = processor.first = processor.ops = 0;
	processor.ops_of[0] = processor.ops_of[1] = 1000;
	now = BEGUN;
	reprise_turns_begin(&turns, now, period, 0x9e3779b97f4a7c15u, 0);
}

static void note(uint64_t period)
{
	now += period;
	processor.ns += processor.of[turns.arm] + (turns.skip > 0 ? processor.first : 0);
	processor.ops += processor.ops_of[turns.arm];
	if (reprise_turns_asks_processor(&turns))
		reprise_turns_note_processor(&turns, processor.ns, processor.ops);
	reprise_turns_note(&turns, now, period, true, true);
}

/* The next period: as long as its arm says. */
static void passes(uint64_t eager, uint64_t replay)
{
	note(turns.arm == REPRISE_ARM_EAGER ? eager : replay);
}

/* Until the pair under way is complete. */
static void pair_passes(uint64_t eager, uint64_t replay)
{
	uint64_t complete = turns.result.turns + 2;

	ck_assert_int_eq(turns.phase, REPRISE_TURNS_FIRST);
	while (turns.result.turns < complete)
		passes(eager, replay);
}

static void rests_until_pair(uint64_t eager, uint64_t replay)
{
	while (turns.phase == REPRISE_TURNS_REST)
		passes(eager, replay);
}

static void test_decides(uint64_t eager, uint64_t replay)
{
	uint64_t tests = turns.result.tests;

	for (unsigned int i = 0; turns.result.tests == tests; i++) {
		ck_assert_uint_lt(i, 1000000);
		passes(eager, replay);
	}
}

/* ---- a pair ---- */

/* Periods of a turn, by their length and by the pairs before it, of which none decides. */
static const struct {
	uint64_t period;
	unsigned int pairs, periods;
} lengths[] = {
	{MS, 0, 2},         {500 * US, 0, 2},   {300 * US, 0, 4},   {100 * US, 0, 10}, {10 * US, 0, 64},
	{10 * MS, 0, 2},    {MS, 9, 2},         {MS, 10, 4},        {MS, 19, 4},       {MS, 20, 8},
	{MS, 40, 32},       {MS, 50, 50},       {MS / 2, 50, 64},   {MS / 2, 60, 64},  {10 * MS, 40, 5},
	{100 * US, 10, 10}, {100 * US, 20, 10}, {100 * US, 30, 16}, {100 * MS, 60, 1}, {16 * MS, 0, 2},
	{17 * MS, 0, 1},    {17 * MS, 10, 2},   {17 * MS, 60, 3},
};

START_TEST(a_turn_has_so_many_periods)
{
	uint64_t period = lengths[_i].period;
	enum reprise_arm first;

	begin(period);
	for (unsigned int pair = 0; pair < lengths[_i].pairs; pair++)
		reprise_pairs_add(&turns.pairs, pair % 2 == 0 ? 3 : 4, pair % 2 == 0 ? 4 : 3);
	now += 100000 * SECOND; /* it may cost as much */
	reprise_turns_give_up(&turns);
	turns.regret.compared = 1;
	note(period);
	note(period);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_FIRST);
	first = turns.arm;
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (unsigned int i = 0; i <= lengths[_i].periods; i++) { /* the first is left out */
			ck_assert_uint_eq(turns.result.turns, turn);
			ck_assert_int_eq(turns.arm == first, turn == 0);
			note(period);
		}
		ck_assert_uint_eq(turns.result.turns, turn + 1);
	}
}
END_TEST

/* Four periods; a turn's mean. None weighs more than four medians, of two the lower. */
static const struct {
	uint64_t periods[4], mean;
} means[] = {
	{{300, 300, 300, 300}, 300},     {{100, 200, 300, 400}, 250},   {{400, 100, 300, 200}, 250},
	{{300, 9000, 300, 300}, 525},    {{9000, 9000, 300, 300}, 750}, {{100, 500, 500, 500}, 400},
	{{9000, 9000, 9000, 300}, 6825}, {{200, 200, 200, 800}, 350},   {{200, 200, 200, 801}, 350},
};

START_TEST(a_turn_counts_by_its_mean)
{
	begin(300 * US);
	ck_assert_uint_eq(turns.wanted, 4);
	note(77777 * US); /* is not compared */
	for (unsigned int i = 0; i < 4; i++)
		note(means[_i].periods[i] * US);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_SECOND);
	ck_assert_uint_eq(turns.first_ns, means[_i].mean * US);
}
END_TEST

START_TEST(other_periods_are_left_out)
{
	begin(MS);
	note(MS);
	note(MS);
	for (unsigned int i = 0; i < 100; i++)
		ck_assert_int_eq(reprise_turns_note(&turns, now, 50 * MS, false, true), turns.arm);
	ck_assert_uint_eq(turns.result.turns, 0);
	note(MS);
	ck_assert_uint_eq(turns.result.turns, 1);
	ck_assert_uint_eq(turns.first_ns, MS);
}
END_TEST

/* ---- turns after a gain was seen ---- */

/* After a test of a loop that gains, until the first turn of the next pair begins. */
static void rest_after_a_gain(uint64_t eager, uint64_t replay)
{
	begin(replay);
	test_decides(eager, replay);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	rests_until_pair(eager, replay);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_FIRST);
}

/* Periods of either turn that are not compared, and those that are, by the length of a period. */
static const struct {
	uint64_t period;
	unsigned int skipped, eager, replay;
} parts[] = {
	{MS, 1, 2, 14},       {300 * US, 4, 4, 28}, {100 * US, 9, 10, 50}, {90 * US, 9, 12, 60},
	{60 * US, 9, 17, 51}, {30 * US, 9, 34, 34}, {10 * US, 9, 64, 64},  {17 * MS, 1, 1, 7},
};

START_TEST(once_a_gain_was_seen_a_turn_of_replays_has_several_parts)
{
	uint64_t period = parts[_i].period, turn;

	rest_after_a_gain(period * 11 / 10, period);
	turn = turns.result.turns;
	for (unsigned int both = 0; both < 2; both++) {
		unsigned int passed = 0;
		enum reprise_arm arm = turns.arm;

		for (; turns.result.turns == turn + both; passed++)
			passes(period * 11 / 10, period);
		ck_assert_uint_eq(passed - parts[_i].skipped,
		                  arm == REPRISE_ARM_EAGER ? parts[_i].eager : parts[_i].replay);
	}
}
END_TEST

/* The first test of a loop compares turns that are as long as each other. */
START_TEST(before_a_gain_was_seen_it_has_one)
{
	begin(MS);
	while (turns.result.tests == 0) {
		passes(1100 * US, MS);
		ck_assert_uint_eq(turns.parts, 1);
	}
}
END_TEST

/* Two of seven parts are slow, and then four. */
START_TEST(the_part_in_the_midst_stands_for_it)
{
	for (unsigned int slow = 2; slow <= 4; slow += 2) {
		unsigned int passed = 0;
		uint64_t turn;

		rest_after_a_gain(1100 * US, MS);
		turn = turns.result.turns;
		while (turns.result.turns < turn + 2) {
			bool replays = turns.arm == REPRISE_ARM_REPLAY && turns.skip == 0;

			note(!replays ? 1100 * US : passed++ < 2 * slow ? 3 * MS : MS);
		}
		ck_assert_uint_eq(turns.replay_ns, slow == 2 ? MS : 3 * MS);
		ck_assert_uint_eq(turns.eager_ns, 1100 * US);
	}
}
END_TEST

/* Only the eager turn loses anything: replays would have come anyhow. */
START_TEST(longer_turns_of_replays_lose_nothing)
{
	uint64_t before;

	rest_after_a_gain(1100 * US, MS);
	before = turns.result.lost_ns;
	pair_passes(1100 * US, MS);
	ck_assert_uint_eq(turns.result.lost_ns - before, 3 * 100 * US);
}
END_TEST

/* Their turns are as long as each other's. */
START_TEST(ranks_have_one_part)
{
	begin(MS);
	turns.step.ahead_ns = 1;
	test_decides(1100 * US, MS);
	rests_until_pair(1100 * US, MS);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(turns.parts, 1);
}
END_TEST

/* Whether they have seen a gain or not. */
START_TEST(ranks_leave_out_one_period)
{
	unsigned int passed = 0;
	uint64_t turn;

	begin(60 * US);
	turns.step.ahead_ns = 1;
	test_decides(66 * US, 60 * US);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	rests_until_pair(66 * US, 60 * US);
	for (turn = turns.result.turns; turns.result.turns == turn; passed++)
		passes(66 * US, 60 * US);
	ck_assert_uint_eq(passed - 1, turns.wanted);
}
END_TEST

/* A program that pauses often has windows, too. */
START_TEST(a_rest_leaves_out_one_period)
{
	rest_after_a_gain(66 * US, 60 * US);
	reprise_turns_give_up(&turns);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
	ck_assert_uint_eq(turns.skip, REPRISE_TUNE_TURN_SKIPPED);
}
END_TEST

/* It is read where the first period that counts begins, and at the end. */
START_TEST(processor_time_is_read_twice_a_turn)
{
	unsigned int asked = 0;
	uint64_t turn;

	rest_after_a_gain(66 * US, 60 * US);
	for (turn = turns.result.turns; turns.result.turns == turn;) {
		asked += reprise_turns_asks_processor(&turns);
		passes(66 * US, 60 * US);
	}
	ck_assert_uint_eq(asked, 2);
}
END_TEST

/* ---- what it costs ---- */

/* All pairs of a test say together which arm has lost. What earlier tests have lost stays. */
START_TEST(what_is_lost_is_the_sum_of_the_differences)
{
	begin(MS);
	pair_passes(1200 * US, MS);
	ck_assert_uint_eq(turns.result.lost_ns, 3 * 200 * US);
	pair_passes(900 * US, MS);
	ck_assert_uint_eq(turns.result.lost_ns, 3 * 100 * US);
	pair_passes(800 * US, MS);
	ck_assert_uint_eq(turns.result.lost_ns, 3 * 100 * US);
	reprise_turns_begin_loop(&turns, now, MS);
	ck_assert_uint_eq(turns.result.lost_ns, 3 * 100 * US);
	pair_passes(700 * US, MS);
	ck_assert_uint_eq(turns.result.lost_ns, 3 * 400 * US);
}
END_TEST

/* The first pair may lose a quarter of a turn; each other one as much as those before it did. */
START_TEST(a_pair_begins_when_it_may_cost_so_much)
{
	uint64_t period = 40 * MS, share = REPRISE_TUNE_TURNS_SHARE, lost = 0, may_lose = 20 * MS;

	begin(period);
	for (unsigned int pair = 0; pair < 3; pair++) {
		ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
		ck_assert_int_eq(turns.arm, REPRISE_ARM_EAGER);
		rests_until_pair(period, 2 * period);
		ck_assert_uint_ge(REPRISE_TUNE_TURNS_FREE_NS + (now - BEGUN) / share, lost + may_lose);
		ck_assert_uint_lt(REPRISE_TUNE_TURNS_FREE_NS + (now - period - BEGUN) / share,
		                  lost + may_lose);
		pair_passes(period, 2 * period);
		lost += 2 * period;
		may_lose = 2 * period;
		ck_assert_uint_eq(turns.result.lost_ns, lost);
	}
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
}
END_TEST

static const struct {
	enum reprise_verdict verdict;
	int surplus;
	enum reprise_arm arm;
} rests[] = {
	{REPRISE_VERDICT_UNDECIDED, 0, REPRISE_ARM_EAGER},
	{REPRISE_VERDICT_UNDECIDED, REPRISE_TUNE_TURNS_SURPLUS - 1, REPRISE_ARM_EAGER},
	{REPRISE_VERDICT_UNDECIDED, REPRISE_TUNE_TURNS_SURPLUS, REPRISE_ARM_REPLAY},
	{REPRISE_VERDICT_EAGER, REPRISE_TUNE_TURNS_SURPLUS - 1, REPRISE_ARM_EAGER},
	{REPRISE_VERDICT_EAGER, REPRISE_TUNE_TURNS_SURPLUS, REPRISE_ARM_REPLAY},
	{REPRISE_VERDICT_REPLAY, 0, REPRISE_ARM_REPLAY},
	{REPRISE_VERDICT_REPLAY, 1 - REPRISE_TUNE_TURNS_SURPLUS, REPRISE_ARM_REPLAY},
	{REPRISE_VERDICT_REPLAY, -REPRISE_TUNE_TURNS_SURPLUS, REPRISE_ARM_EAGER},
};

START_TEST(a_rest_is_in_the_better_arm)
{
	int surplus = rests[_i].surplus;

	begin(MS);
	for (int i = 0; i < (surplus < 0 ? -surplus : surplus); i++)
		reprise_pairs_add(&turns.pairs, surplus > 0 ? 2 : 1, surplus > 0 ? 1 : 2);
	turns.result.verdict = rests[_i].verdict;
	ck_assert_int_eq(reprise_turns_give_up(&turns), rests[_i].arm);
	ck_assert_int_eq(turns.arm, rests[_i].arm);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
}
END_TEST

/* ---- verdicts ---- */

/* Until the next test begins: at the end of the first window from then on. */
static void rests_for(uint64_t pause, uint64_t period)
{
	uint64_t until = now + pause;
	unsigned int periods = 0;

	for (; !turns.testing; periods++) {
		ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
		passes(period, period);
	}
	ck_assert_uint_ge(now, until);
	ck_assert_uint_lt(now - REPRISE_TUNE_TURNS_WINDOW * period, until);
	ck_assert_uint_eq(periods % REPRISE_TUNE_TURNS_WINDOW, 1);
}

static const struct {
	uint64_t eager;
	enum reprise_verdict verdict;
	enum reprise_arm arm;
	uint64_t pause;
} verdicts[] = {
	{1500 * US, REPRISE_VERDICT_REPLAY, REPRISE_ARM_REPLAY, REPRISE_TUNE_TURNS_REPLAY_NS},
	{600 * US, REPRISE_VERDICT_EAGER, REPRISE_ARM_EAGER, REPRISE_TUNE_TURNS_EAGER_NS},
	{1005 * US, REPRISE_VERDICT_REPLAY, REPRISE_ARM_REPLAY, REPRISE_TUNE_TURNS_REPLAY_NS},
	{MS, REPRISE_VERDICT_EAGER, REPRISE_ARM_EAGER, REPRISE_TUNE_TURNS_EAGER_NS},
};

START_TEST(the_next_test_is_after_pauses_that_double)
{
	uint64_t pause = verdicts[_i].pause, eager = verdicts[_i].eager, decided = 0;

	begin(MS);
	for (unsigned int test = 1; test <= REPRISE_TUNE_TURNS_DOUBLED + 3; test++) {
		test_decides(eager, MS);
		if (test == 1)
			decided = now - BEGUN;
		ck_assert_int_eq(turns.result.verdict, verdicts[_i].verdict);
		ck_assert_int_eq(turns.arm, verdicts[_i].arm);
		ck_assert_uint_eq(turns.result.tests, test);
		ck_assert_uint_eq(turns.result.gain, eager / US);
		ck_assert_uint_eq(turns.result.low, eager / US);
		ck_assert_uint_eq(turns.result.high, eager / US);
		ck_assert_uint_eq(turns.result.decided_ns, decided);
		rests_for(pause, verdicts[_i].arm == REPRISE_ARM_EAGER ? eager : MS);
		if (test <= REPRISE_TUNE_TURNS_DOUBLED)
			pause *= 2;
	}
	if (verdicts[_i].verdict == REPRISE_VERDICT_EAGER) { /* another verdict */
		test_decides(2 * MS, MS);
		rests_for(REPRISE_TUNE_TURNS_REPLAY_NS, MS);
	} else {
		test_decides(500 * US, MS);
		rests_for(REPRISE_TUNE_TURNS_EAGER_NS, 500 * US);
	}
}
END_TEST

/* ---- processor time ---- */

static const struct {
	uint64_t eager, used_eager, used_replay, first;
	enum reprise_verdict verdict;
	uint32_t told;
} uses[] = {
	{1100 * US, 0, 0, 0, REPRISE_VERDICT_REPLAY, 0},
	{1100 * US, 1100 * US, MS, 0, REPRISE_VERDICT_REPLAY, 909},
	{1100 * US, MS, 1019 * US, 0, REPRISE_VERDICT_REPLAY, 1019},
	{1100 * US, MS, 1021 * US, 0, REPRISE_VERDICT_COSTLY, 1021},
	{2000 * US, MS, 3000 * US, 0, REPRISE_VERDICT_COSTLY, 3000},
	{1100 * US, MS, 1500 * US, 500 * MS, REPRISE_VERDICT_COSTLY,
     1500}, /* what settles is not compared */
	{900 * US, MS, 1500 * US, 0, REPRISE_VERDICT_EAGER, 1500},
	{900 * US, 1500 * US, MS, 0, REPRISE_VERDICT_EAGER, 667},
};

START_TEST(a_gain_that_costs_too_much_processor_time_is_left)
{
	begin(MS);
	processor.of[REPRISE_ARM_EAGER] = uses[_i].used_eager;
	processor.of[REPRISE_ARM_REPLAY] = uses[_i].used_replay;
	processor.first = uses[_i].first;
	test_decides(uses[_i].eager, MS);
	ck_assert_int_eq(turns.result.verdict, uses[_i].verdict);
	ck_assert_uint_eq(turns.result.processor, uses[_i].told);
	ck_assert_uint_eq(turns.result.gain, uses[_i].eager / US);
	ck_assert_int_eq(turns.arm, uses[_i].verdict == REPRISE_VERDICT_REPLAY ? REPRISE_ARM_REPLAY
	                                                                       : REPRISE_ARM_EAGER);
}
END_TEST

/* Where the launch thread launches, and replaying takes too much, it is measured without that
 * thread. What it takes then decides. */
static const struct {
	uint64_t used;
	enum reprise_verdict verdict;
} direct[] = {{950 * US, REPRISE_VERDICT_REPLAY}, {1050 * US, REPRISE_VERDICT_COSTLY}};

START_TEST(what_costs_too_much_is_tried_without_the_launch_thread)
{
	begin(MS);
	reprise_turns_note_async(&turns);
	processor.of[REPRISE_ARM_EAGER] = MS;
	processor.of[REPRISE_ARM_REPLAY] = 1100 * US;
	while (!turns.result.direct)
		passes(1200 * US, MS);
	ck_assert_uint_eq(turns.result.tests, 0);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_UNDECIDED);
	ck_assert_uint_eq(turns.pairs.count, 0);
	processor.of[REPRISE_ARM_REPLAY] = direct[_i].used;
	test_decides(1100 * US, MS);
	ck_assert_int_eq(turns.result.verdict, direct[_i].verdict);
	ck_assert_uint_eq(turns.result.processor, direct[_i].used / US);
	ck_assert_uint_eq(turns.result.gain, 1100);
	ck_assert(turns.result.direct);
	reprise_turns_begin_loop(&turns, now, MS);
	ck_assert(!turns.result.direct);
	ck_assert(!turns.async);
}
END_TEST

/* Half of the pairs are below what is allowed, so nothing is certain. */
START_TEST(many_pairs_that_seem_to_cost_too_much_take_the_launch_thread_off)
{
	unsigned int pairs = 0;

	begin(MS);
	reprise_turns_note_async(&turns);
	turns.chosen = true;
	processor.of[REPRISE_ARM_EAGER] = MS;
	for (; !turns.result.direct; pairs++) {
		ck_assert_uint_lt(pairs, REPRISE_TUNE_TURNS_DIRECT + REPRISE_TUNE_TURNS_UNCLEAR);
		rests_until_pair(1100 * US, MS);
		processor.of[REPRISE_ARM_REPLAY] = pairs % 2 == 0 ? 1100 * US : 990 * US;
		pair_passes(1100 * US, MS);
	}
	ck_assert_uint_ge(pairs, REPRISE_TUNE_TURNS_DIRECT);
	ck_assert_uint_gt(turns.result.tests, 1);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
}
END_TEST

/* ---- the launch thread, or none ---- */

/* Replays take so long with the launch thread, and without. */
static void passes_chosen(uint64_t with, uint64_t without)
{
	passes(1200 * US, reprise_turns_is_direct(&turns) ? without : with);
}

static const struct {
	uint64_t without;
	bool costly; /* the process takes more processor time than it may, and the thread some of it */
	bool direct;
	uint32_t gain;
} choices[] = {{900 * US, false, true, 1333},
               {1100 * US, false, false, 1200},
               {1100 * US, true, true, 1091}};

START_TEST(in_rests_of_replays_it_is_seen_whether_the_launch_thread_gains)
{
	unsigned int without = 0, all = 0;

	begin(MS);
	reprise_turns_note_async(&turns);
	processor.of[REPRISE_ARM_EAGER] = processor.of[REPRISE_ARM_REPLAY] = MS;
	while (!turns.chosen) {
		bool may = turns.phase == REPRISE_TURNS_REST && !turns.testing &&
		           turns.result.verdict == REPRISE_VERDICT_REPLAY;

		ck_assert_uint_lt(++all, 100000);
		ck_assert(may || !reprise_turns_is_direct(&turns));
		without += reprise_turns_is_direct(&turns);
		ck_assert(!turns.result.direct);
		processor.of[REPRISE_ARM_REPLAY] =
			choices[_i].costly && reprise_turns_is_direct(&turns) ? 900 * US : MS;
		if (choices[_i].costly && turns.choosing &&
		    turns.processor.count < REPRISE_TUNE_TURNS_DIRECT)
			reprise_pairs_add(&turns.processor, 110, 100);
		passes_chosen(MS, choices[_i].without);
	}
	ck_assert_uint_ge(without, 8 * 9);
	ck_assert_int_eq(turns.result.direct, choices[_i].direct);
	ck_assert_int_eq(reprise_turns_is_direct(&turns), choices[_i].direct);
	ck_assert_int_eq(turns.testing, choices[_i].direct); /* anew: what was told was with it */
	if (choices[_i].direct)
		ck_assert_uint_eq(turns.told.count, 0);
	for (uint64_t until = now + 10 * SECOND; now < until;) {
		ck_assert_int_eq(reprise_turns_is_direct(&turns), choices[_i].direct);
		passes_chosen(MS, choices[_i].without);
	}
	ck_assert_uint_eq(turns.result.gain, choices[_i].gain);
	ck_assert_uint_eq(turns.result.thread_gain, choices[_i].without / US);
	ck_assert_uint_eq(turns.result.thread_processor, choices[_i].costly ? 1111 : 1000);
	reprise_turns_begin_loop(&turns, now, MS);
	ck_assert(!turns.chosen && !turns.choosing && !reprise_turns_is_direct(&turns));
	ck_assert_uint_eq(turns.result.thread_gain | turns.result.thread_processor, 0);
}
END_TEST

/* Turns with the thread and without differ, and so do windows: that is no change of the loop. */
START_TEST(what_the_launch_thread_gains_is_no_change)
{
	uint64_t tests;

	begin(100 * US);
	test_decides(300 * US, 100 * US);
	tests = turns.result.tests;
	turns.rest_until_ns = UINT64_MAX;
	for (unsigned int i = 0; i < 100 * REPRISE_TUNE_TURNS_WINDOW; i++)
		passes(300 * US, 100 * US); /* it is known what is usual */
	reprise_turns_note_async(&turns);
	for (unsigned int pair = 0; pair < 40; pair++) {
		reprise_pairs_begin(&turns.choice.time); /* it is not decided */
		for (unsigned int i = 0; i < 250; i++)
			passes(300 * US, reprise_turns_is_direct(&turns) ? 200 * US : 100 * US);
		ck_assert(turns.choosing && !turns.testing);
		ck_assert_uint_eq(turns.result.tests, tests);
	}
}
END_TEST

/* The launch thread launches nothing; the loop gains nothing; the host is ahead of the GPU; the
 * process is a rank; a test is under way, and its next pair cannot be paid for. */
START_TEST(elsewhere_it_is_not_asked)
{
	for (unsigned int where = 0; where < 5; where++) {
		begin(MS);
		if (where != 0)
			reprise_turns_note_async(&turns);
		test_decides(where == 1 ? 900 * US : 1200 * US, MS);
		turns.ahead = where == 2;
		turns.step.ahead_ns = where == 3;
		turns.testing = where == 4;
		turns.regret.counted_ns = where == 4 ? UINT64_MAX / 2 : 0;
		for (unsigned int i = 0; i < 1000; i++) {
			passes(where == 1 ? 900 * US : 1200 * US, MS);
			ck_assert(!turns.choosing);
		}
	}
}
END_TEST

/* As many pairs say otherwise. */
START_TEST(processor_time_is_looked_at_again)
{
	unsigned int tests = 1;

	begin(MS);
	processor.of[REPRISE_ARM_EAGER] = MS;
	processor.of[REPRISE_ARM_REPLAY] = 2 * MS;
	test_decides(1100 * US, MS);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_COSTLY);
	rests_for(REPRISE_TUNE_TURNS_EAGER_NS, 1100 * US);
	processor.of[REPRISE_ARM_REPLAY] = MS;
	for (; turns.result.verdict == REPRISE_VERDICT_COSTLY; tests++) {
		if (!turns.testing)
			rests_for(0, 1100 * US);
		test_decides(1100 * US, MS);
	}
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_le(tests, 3);
	reprise_turns_begin_loop(&turns, now, MS);
	ck_assert_uint_eq(turns.result.processor, 0);
	ck_assert_int_eq(turns.result.earlier.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(turns.processor.count, 0);
}
END_TEST

/* The periods of one arm had more ops than those of the other. */
START_TEST(processor_time_is_that_of_as_many_ops)
{
	begin(MS);
	processor.of[REPRISE_ARM_EAGER] = MS / 16;
	processor.ops_of[REPRISE_ARM_EAGER] = 1000 / 16;
	processor.of[REPRISE_ARM_REPLAY] = MS;
	test_decides(1100 * US, MS);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(turns.result.processor, 992); /* 62 ops, and not 62.5 */
}
END_TEST

/* Half of the pairs are far above, and half below. */
START_TEST(processor_time_that_varies_decides_nothing)
{
	begin(MS);
	processor.of[REPRISE_ARM_EAGER] = MS;
	rests_until_pair(1100 * US, MS);
	for (unsigned int pair = 0; turns.result.verdict == REPRISE_VERDICT_UNDECIDED; pair++) {
		processor.of[REPRISE_ARM_REPLAY] = pair % 3 == 0 ? 800 * US : 1300 * US;
		if (turns.phase == REPRISE_TURNS_REST)
			rests_until_pair(1100 * US, MS);
		pair_passes(1100 * US, MS);
	}
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(turns.result.processor, 1300);
}
END_TEST

/* Calls would be eager otherwise: eager turns cost nothing that counts until there is a verdict,
 * and so a slow loop has one soon. After it they do. */
START_TEST(eager_turns_cost_nothing_before_there_is_a_gain)
{
	uint64_t period = 10 * MS, each = 3 * period / 2, pairs = 0;

	begin(period);
	while (turns.result.tests == 0)
		pair_passes(period, period / 2); /* without a rest */
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_lt(turns.result.decided_ns, SECOND);
	ck_assert_uint_eq(turns.result.lost_ns, 8 * each);
	rests_for(REPRISE_TUNE_TURNS_REPLAY_NS, period / 2);
	for (; turns.phase == REPRISE_TURNS_FIRST; pairs++)
		pair_passes(period, period / 2);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_REPLAY);
	ck_assert_uint_eq(turns.result.lost_ns, (8 + pairs) * each);
	ck_assert_uint_gt((pairs + 1) * each,
	                  REPRISE_TUNE_TURNS_FREE_NS + (now - BEGUN) / REPRISE_TUNE_TURNS_SHARE);
}
END_TEST

/* What replaying turns lose counts from the first on, and in later tests. */
START_TEST(what_counted_once_counts_in_later_tests)
{
	begin(10 * MS);
	test_decides(8 * MS, 10 * MS);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_EAGER);
	ck_assert_uint_gt(turns.result.lost_ns, REPRISE_TUNE_TURNS_FREE_NS);
	rests_for(REPRISE_TUNE_TURNS_EAGER_NS, 8 * MS);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
	ck_assert_uint_eq(turns.regret.counted_ns, turns.result.lost_ns);
}
END_TEST

/* Where a gain of 1.05 is ruled out. */
START_TEST(a_small_gain_that_pairs_do_not_show_is_left_sooner)
{
	begin(MS);
	turns.regret.begun_ns = 0;
	now = 1000000 * SECOND;
	for (unsigned int pair = 0; pair < REPRISE_TUNE_TURNS_UNCLEAR; pair++) {
		ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_UNDECIDED);
		pair_passes(pair % 2 == 0 ? 1030 * US : 980 * US, MS);
	}
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_UNCLEAR);
	ck_assert_uint_eq(turns.result.high, 1030);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_EAGER);
}
END_TEST

START_TEST(after_many_pairs_that_say_nothing_the_loop_is_left_eager)
{
	begin(MS);
	turns.regret.begun_ns = 0; /* long ago: it may cost anything */
	now = 1000000 * SECOND;
	for (unsigned int pair = 0; pair < REPRISE_TUNE_TURNS_UNCLEAR_MOST; pair++) {
		ck_assert_uint_eq(turns.pairs.count, pair);
		pair_passes(pair % 2 == 0 ? 1200 * US : 800 * US, MS);
	}
	ck_assert_uint_eq(turns.result.tests, 1);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_UNCLEAR);
	ck_assert_uint_le(turns.result.low, 800);
	ck_assert_uint_ge(turns.result.high, 1200);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_EAGER);
	ck_assert(!turns.testing);
	/* The pairs have taken longer than the least pause. */
	ck_assert_uint_eq(turns.rest_until_ns - now,
	                  REPRISE_TUNE_TURNS_UNCLEAR_PAUSE * (now - turns.first_pair_ns));
	ck_assert_uint_gt(turns.rest_until_ns - now, REPRISE_TUNE_TURNS_EAGER_NS);
}
END_TEST

/* ---- what is looked at in a rest ---- */

static void window(uint64_t period)
{
	for (unsigned int i = 0; i < REPRISE_TUNE_TURNS_WINDOW; i++)
		note(period);
}

/* So many windows as usual, some by more and less; then so many that differ. */
static const struct {
	unsigned int usual, differ;
	uint64_t varies, period; /* thousandths */
	bool tests;
} changes[] = {
	{8, 2, 0, 1130, true},     {8, 1, 0, 1130, false},   {8, 4, 0, 1120, false},
	{8, 2, 0, 870, true},      {8, 4, 0, 880, false},    {3, 2, 0, 1500, false},
	{4, 2, 0, 1500, true},     {9, 4, 100, 1300, false}, {9, 2, 100, 1700, true},
	{40, 4, 100, 1300, false}, {40, 2, 100, 1700, true}, {40, 2, 0, 1130, true},
};

START_TEST(what_is_not_as_usual_is_tested_again)
{
	begin(MS);
	test_decides(1500 * US, MS);
	turns.rest_until_ns = UINT64_MAX;
	note(MS); /* the first is left out */
	for (unsigned int i = 0; i < changes[_i].usual; i++)
		window(
			(1000 + (i % 2 == 0 ? changes[_i].varies : 0) - (i % 2 == 1 ? changes[_i].varies : 0)) *
			US);
	for (unsigned int i = 0; i < changes[_i].differ; i++) {
		ck_assert(!turns.testing);
		window(changes[_i].period * US);
	}
	ck_assert_int_eq(turns.testing, changes[_i].tests);
}
END_TEST

/* One by one they are none in a row. */
START_TEST(single_windows_that_differ_are_no_change)
{
	begin(MS);
	test_decides(1500 * US, MS);
	turns.rest_until_ns = UINT64_MAX;
	note(MS);
	for (unsigned int i = 0; i < 100; i++)
		window(i >= 10 && i % 2 == 0 ? 2 * MS : MS);
	ck_assert(!turns.testing);
	window(2 * MS);
	window(2 * MS);
	ck_assert(turns.testing);
}
END_TEST

/* Nothing is known of the next test's rest by what was usual in this one. */
START_TEST(what_is_usual_is_learnt_anew)
{
	begin(MS);
	test_decides(1500 * US, MS);
	rests_for(REPRISE_TUNE_TURNS_REPLAY_NS, MS);
	ck_assert_uint_eq(turns.usual.windows, 0);
	ck_assert_uint_eq(turns.usual.mean_ns, 0);
	ck_assert_uint_eq(turns.usual.spread_ns, 0);
	test_decides(15 * MS, 10 * MS);
	turns.rest_until_ns = UINT64_MAX;
	note(10 * MS);
	for (unsigned int i = 0; i < 10; i++)
		window(10 * MS);
	ck_assert(!turns.testing);
	ck_assert_uint_eq(turns.usual.mean_ns, 10 * MS);
}
END_TEST

/* ---- another loop ---- */

START_TEST(another_loop_begins_without_a_verdict)
{
	struct reprise_turns_result before;

	begin(MS);
	test_decides(1500 * US, MS);
	before = turns.result;
	now += SECOND;
	reprise_turns_begin_loop(&turns, now, 2 * MS);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_UNDECIDED);
	ck_assert_uint_eq(turns.result.gain | turns.result.low | turns.result.high, 0);
	ck_assert_uint_eq(turns.result.loops, 2);
	ck_assert_int_eq(turns.result.earlier.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(turns.result.earlier.gain, before.gain);
	ck_assert_uint_eq(turns.result.earlier.low, before.low);
	ck_assert_uint_eq(turns.result.earlier.high, before.high);
	ck_assert_uint_eq(turns.result.turns, before.turns);
	ck_assert_uint_eq(turns.result.tests, before.tests);
	ck_assert_uint_eq(turns.result.lost_ns, before.lost_ns);
	ck_assert_uint_eq(turns.result.decided_ns, before.decided_ns);
	ck_assert_uint_eq(turns.period_ns, 2 * MS);
	ck_assert_uint_eq(turns.pairs.count, 0);
	ck_assert(turns.testing);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_FIRST);
	reprise_turns_begin_loop(&turns, now, SECOND); /* one that may not cost so much yet */
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_EAGER);
	/* The one between had no verdict: the first one's stays. */
	ck_assert_uint_eq(turns.result.earlier.gain, before.gain);
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("periods");
	TCase *tests = tcase_create("periods");

	tcase_add_loop_test(tests, a_turn_has_so_many_periods, 0, ALL(lengths));
	tcase_add_loop_test(tests, a_turn_counts_by_its_mean, 0, ALL(means));
	tcase_add_test(tests, other_periods_are_left_out);
	tcase_add_loop_test(tests, once_a_gain_was_seen_a_turn_of_replays_has_several_parts, 0,
	                    ALL(parts));
	tcase_add_test(tests, before_a_gain_was_seen_it_has_one);
	tcase_add_test(tests, the_part_in_the_midst_stands_for_it);
	tcase_add_test(tests, longer_turns_of_replays_lose_nothing);
	tcase_add_test(tests, ranks_have_one_part);
	tcase_add_test(tests, ranks_leave_out_one_period);
	tcase_add_test(tests, a_rest_leaves_out_one_period);
	tcase_add_test(tests, processor_time_is_read_twice_a_turn);
	tcase_add_test(tests, what_is_lost_is_the_sum_of_the_differences);
	tcase_add_test(tests, a_pair_begins_when_it_may_cost_so_much);
	tcase_add_test(tests, eager_turns_cost_nothing_before_there_is_a_gain);
	tcase_add_test(tests, what_counted_once_counts_in_later_tests);
	tcase_add_loop_test(tests, a_rest_is_in_the_better_arm, 0, ALL(rests));
	tcase_add_loop_test(tests, the_next_test_is_after_pauses_that_double, 0, ALL(verdicts));
	tcase_add_loop_test(tests, a_gain_that_costs_too_much_processor_time_is_left, 0, ALL(uses));
	tcase_add_loop_test(tests, what_costs_too_much_is_tried_without_the_launch_thread, 0, 2);
	tcase_add_test(tests, many_pairs_that_seem_to_cost_too_much_take_the_launch_thread_off);
	tcase_add_loop_test(tests, in_rests_of_replays_it_is_seen_whether_the_launch_thread_gains, 0,
	                    ALL(choices));
	tcase_add_test(tests, what_the_launch_thread_gains_is_no_change);
	tcase_add_test(tests, elsewhere_it_is_not_asked);
	tcase_add_test(tests, processor_time_is_looked_at_again);
	tcase_add_test(tests, processor_time_is_that_of_as_many_ops);
	tcase_add_test(tests, processor_time_that_varies_decides_nothing);
	tcase_add_test(tests, a_small_gain_that_pairs_do_not_show_is_left_sooner);
	tcase_add_test(tests, after_many_pairs_that_say_nothing_the_loop_is_left_eager);
	tcase_add_loop_test(tests, what_is_not_as_usual_is_tested_again, 0, ALL(changes));
	tcase_add_test(tests, single_windows_that_differ_are_no_change);
	tcase_add_test(tests, what_is_usual_is_learnt_anew);
	tcase_add_test(tests, another_loop_begins_without_a_verdict);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
