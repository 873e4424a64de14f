/* Turns of the ranks of a job, in virtual time: each period of their loop lasts until the slowest
 * is through. So what an arm of one rank gains shows only while the others are in the same arm. */
#include "../../suite.h"
#include "base/tuning.h"
#include "noise.h"
#include "stats/turns.h"

#define PERIOD 7e6 /* ns of an eager one: a training step's */
#define GAIN 1.2
#define SECOND UINT64_C(1000000000)
#define RANKS 8
#define RUNS 50

static struct reprise_turns turns[RANKS];
static uint64_t starts[RANKS], visited[RANKS];
static bool unseen[RANKS]; /* ops since */
static struct noise noise;
static uint64_t now;

/* Rank i comes to measure its loop `apart` * i later than the first. */
static void begin(uint64_t seed, uint64_t apart)
{
	noise = (struct noise){seed * 2654435761u + 1, 0.05, 0.01 / RANKS};
	now = SECOND + seed * 123456789;
	for (unsigned int i = 0; i < RANKS; i++) {
		starts[i] = now + i * apart;
		visited[i] = 0;
		unseen[i] = false;
		turns[i] = (struct reprise_turns){.arm = REPRISE_ARM_REPLAY};
	}
}

/* Rank i visits its anchor now, if it looks. `ahead`: of the clock that all have; 0: each is
 * alone. */
static void visit(unsigned int i, uint64_t seed, uint64_t at, uint64_t ahead)
{
	if (visited[i] == 0 && at < starts[i])
		return;
	if (visited[i] != 0 && at < turns[i].unseen_until_ns) {
		unseen[i] = true;
		return;
	}
	if (visited[i] != 0)
		reprise_turns_note(&turns[i], at, at - visited[i], !unseen[i], true);
	else
		reprise_turns_begin(&turns[i], at, (uint64_t)PERIOD,
		                    (seed * RANKS + i + 1) * 0x9e3779b97f4a7c15u, ahead);
	visited[i] = at;
	unseen[i] = false;
}

/* The job runs on. `late`: the part of a period that a rank may visit its anchor later than
 * another. */
static void run(uint64_t seed, double gain, double late, uint64_t ahead, uint64_t until)
{
	while (now < until) {
		uint64_t period = 0;

		for (unsigned int i = 0; i < RANKS; i++) {
			uint64_t own =
				noise_period(&noise, turns[i].arm == REPRISE_ARM_EAGER ? PERIOD : PERIOD / gain);

			period = own > period ? own : period;
		}
		now += period;
		for (unsigned int i = 0; i < RANKS; i++)
			visit(i, seed, now + (uint64_t)(late * PERIOD * noise_uniform(&noise)), ahead);
	}
}

struct outcome {
	unsigned int replay, eager; /* ranks that rest in this arm */
	unsigned int verdict[REPRISE_VERDICT_UNCLEAR + 1];
};

static void add(struct outcome *outcome)
{
	for (unsigned int i = 0; i < RANKS; i++) {
		bool rests = turns[i].phase == REPRISE_TURNS_REST;

		outcome->replay += rests && turns[i].arm == REPRISE_ARM_REPLAY;
		outcome->eager += rests && turns[i].arm == REPRISE_ARM_EAGER;
		outcome->verdict[turns[i].result.verdict]++;
	}
}

#define OF_ALL(percent) (RUNS * RANKS * (percent) / 100)

struct jobs {
	double late;
	uint64_t apart;
	bool alone;          /* no clock in common */
	double first, then;  /* gains */
	uint64_t first_s, s; /* for so many seconds */
};

static struct outcome run_jobs(struct jobs jobs)
{
	struct outcome outcome = {0};

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		uint64_t ahead = jobs.alone ? 0 : 1000 * SECOND + seed;

		begin(seed, jobs.apart);
		run(seed, jobs.first, jobs.late, ahead, now + jobs.first_s * SECOND);
		run(seed, jobs.then, jobs.late, ahead, now + jobs.s * SECOND);
		add(&outcome);
	}
	return outcome;
}

START_TEST(ranks_that_turn_together_see_what_they_gain)
{
	struct outcome outcome = run_jobs((struct jobs){.then = GAIN, .s = 5});

	ck_assert_uint_ge(outcome.verdict[REPRISE_VERDICT_REPLAY], OF_ALL(98));
	ck_assert_uint_eq(outcome.eager, 0);
}
END_TEST

/* What in_step.h says of turns at times of their own. */
START_TEST(ranks_that_turn_alone_see_none)
{
	struct outcome outcome = run_jobs((struct jobs){.alone = true, .then = GAIN, .s = 20});

	ck_assert_uint_le(outcome.verdict[REPRISE_VERDICT_REPLAY], OF_ALL(10));
}
END_TEST

/* From here on they come to it a tenth of a second after each other, and to their anchors up to a
 * tenth of a period. */
#define APART .late = 0.1, .apart = SECOND / 10

START_TEST(ranks_need_not_begin_at_once)
{
	struct outcome outcome = run_jobs((struct jobs){APART, .then = GAIN, .s = 10});

	ck_assert_uint_ge(outcome.verdict[REPRISE_VERDICT_REPLAY], OF_ALL(90));
	ck_assert_uint_le(outcome.eager, OF_ALL(4));
}
END_TEST

START_TEST(ranks_that_lose_are_left_eager)
{
	struct outcome outcome = run_jobs((struct jobs){APART, .then = 1 / GAIN, .s = 30});

	ck_assert_uint_eq(outcome.replay, 0);
	ck_assert_uint_eq(outcome.verdict[REPRISE_VERDICT_REPLAY], 0);
	ck_assert_uint_ge(outcome.verdict[REPRISE_VERDICT_EAGER], OF_ALL(98));
}
END_TEST

/* They have learnt by then, say. Their pauses have become different. */
START_TEST(ranks_that_were_left_eager_come_to_replay)
{
	struct outcome outcome =
		run_jobs((struct jobs){APART, .first = 1 / GAIN, .first_s = 10, .then = GAIN, .s = 60});

	ck_assert_uint_ge(outcome.verdict[REPRISE_VERDICT_REPLAY], OF_ALL(90));
	ck_assert_uint_ge(outcome.replay, OF_ALL(85));
}
END_TEST

START_TEST(ranks_whose_gain_ends_are_left_eager)
{
	struct outcome outcome =
		run_jobs((struct jobs){APART, .first = GAIN, .first_s = 10, .then = 1 / GAIN, .s = 60});

	ck_assert_uint_le(outcome.replay, OF_ALL(4));
	ck_assert_uint_ge(outcome.verdict[REPRISE_VERDICT_EAGER], OF_ALL(90));
}
END_TEST

/* ---- the clock that they have in common ---- */

#define PAIR 30000000            /* ns */
#define SLOT (UINT64_C(1) << 26) /* of such pairs: 67 ms */

START_TEST(a_pair_begins_once_in_a_slot_and_early)
{
	struct reprise_in_step step = {.ahead_ns = 7 * SECOND + 1};
	uint64_t begun = 0;

	for (uint64_t at = SECOND; at < 2 * SECOND; at += SECOND / 1000) {
		uint64_t next = reprise_in_step_next(&step, at, PAIR);

		ck_assert_uint_gt(next, at);
		ck_assert_uint_eq((next + step.ahead_ns) % SLOT, 0);
		if (!reprise_in_step_begins(&step, at, PAIR))
			continue;
		ck_assert_uint_eq(step.slot + SLOT, next + step.ahead_ns);
		ck_assert_uint_ge(next - at, PAIR); /* it fits */
		begun++;
	}
	ck_assert_uint_ge(begun, SECOND / SLOT);
	ck_assert_uint_le(begun, SECOND / SLOT + 2);
}
END_TEST

START_TEST(pairs_that_take_longer_begin_with_shorter_ones)
{
	struct reprise_in_step longer = {.ahead_ns = 3}, shorter = {.ahead_ns = 3};

	for (uint64_t at = SECOND; at < 2 * SECOND; at += 500000) {
		bool begins = reprise_in_step_begins(&shorter, at, 10000000);

		if (reprise_in_step_begins(&longer, at, 40000000)) {
			ck_assert(begins);
			ck_assert_uint_eq(longer.slot, shorter.slot);
			ck_assert_uint_eq(reprise_in_step_random(&longer, 1),
			                  reprise_in_step_random(&shorter, 2));
		}
	}
}
END_TEST

START_TEST(a_process_that_is_no_rank_begins_when_it_likes)
{
	struct reprise_in_step alone = {0};

	ck_assert(reprise_in_step_begins(&alone, 5, 1000));
	ck_assert(reprise_in_step_begins(&alone, 6, 1000));
	ck_assert_uint_eq(reprise_in_step_next(&alone, 6, 1000), UINT64_MAX);
	ck_assert_uint_eq(reprise_in_step_rest(&alone, 6, 1000), 1006);
	ck_assert_uint_eq(reprise_in_step_random(&alone, 77), 77);
}
END_TEST

START_TEST(rests_end_together)
{
	struct reprise_in_step step = {.ahead_ns = 5 * SECOND + 3};

	for (uint64_t at = SECOND; at < 2 * SECOND; at += SECOND / 16) {
		uint64_t until = reprise_in_step_rest(&step, at, SECOND / 2);

		ck_assert_uint_eq((until + step.ahead_ns) % (UINT64_C(1) << 27), 0);
		ck_assert_uint_ge(until, at + SECOND / 2);
		ck_assert_uint_lt(until, at + 3 * SECOND / 4);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ranks");
	TCase *tests = tcase_create("ranks");

	tcase_add_test(tests, ranks_that_turn_together_see_what_they_gain);
	tcase_add_test(tests, ranks_that_turn_alone_see_none);
	tcase_add_test(tests, ranks_need_not_begin_at_once);
	tcase_add_test(tests, ranks_that_lose_are_left_eager);
	tcase_add_test(tests, ranks_that_were_left_eager_come_to_replay);
	tcase_add_test(tests, ranks_whose_gain_ends_are_left_eager);
	tcase_add_test(tests, a_pair_begins_once_in_a_slot_and_early);
	tcase_add_test(tests, pairs_that_take_longer_begin_with_shorter_ones);
	tcase_add_test(tests, a_process_that_is_no_rank_begins_when_it_likes);
	tcase_add_test(tests, rests_end_together);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
