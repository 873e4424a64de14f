/* Turns of loops that do not wait, in virtual time: the host takes so long for a period, the GPU
 * too, and at most so many periods of the host's are ahead of it. */
#include <math.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "stats/turns.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define QUEUE 1000                /* launches that the GPU may be behind */
#define BEFORE UINT64_C(10000000) /* launches before the loop */

static struct reprise_turns turns;
static uint64_t now, done; /* the host's time; when the GPU has done all that it was given */
static uint64_t work;      /* periods */
static uint64_t launches;  /* of a period */
static bool always_idle;   /* whoever asks is told so */
static bool looks;         /* when the GPU catches up is seen */
static bool looks_early;   /* only in periods at whose end it is behind again, near their end */

static void begin(uint64_t period)
{
	now = done = work = 0;
	launches = 1;
	always_idle = false;
	looks = true;
	looks_early = false;
	reprise_turns_begin(&turns, now, period, 0x9e3779b97f4a7c15u, 0);
}

/* A period of the host gives its work as time goes by, and waits where the queue is full. The GPU
 * is looked at now and then, and when the next period is to be given. */
static void passes(uint64_t host, uint64_t gpu)
{
	uint64_t before = now, backlog = done > now ? done - now : 0, idle = 0;
	bool asked = reprise_turns_asks(&turns);

	now += host;
	if (backlog + gpu <= host) {
		idle = host > gpu ? backlog * host / (host - gpu) : host;
		done = now;
	} else {
		done = before + backlog + gpu;
	}
	if (done > now + QUEUE / launches * gpu)
		now = done - QUEUE / launches * gpu;
	if (looks && reprise_turns_asks_when(&turns) && done <= now)
		reprise_turns_note_caught_up(&turns, (unsigned int)(idle * 1000 / host),
		                             (unsigned int)(idle * 1000 / host));
	if (looks_early && reprise_turns_asks_when(&turns) && done > now)
		reprise_turns_note_caught_up(&turns, 999, 0);
	reprise_turns_note_replayed(&turns, 0, 0, BEFORE + (work + 1) * launches);
	reprise_turns_note(&turns, now, now - before, true, asked && (always_idle || done <= now));
	work++;
}

struct arms {
	uint64_t eager, replay;         /* the host's time */
	uint64_t eager_gpu, replay_gpu; /* the GPU's */
};

static void runs_until(const struct arms *arms, uint64_t until)
{
	while (now < until) {
		bool eager = turns.arm == REPRISE_ARM_EAGER;

		passes(eager ? arms->eager : arms->replay, eager ? arms->eager_gpu : arms->replay_gpu);
	}
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- verdicts ---- */

static const struct {
	struct arms arms;
	enum reprise_verdict verdict;
} loops[] = {
	/* the GPU always waits for the host */
	{{100 * US, 60 * US, 20 * US, 20 * US}, REPRISE_VERDICT_REPLAY},
	{{100 * US, 120 * US, 20 * US, 20 * US}, REPRISE_VERDICT_EAGER},
	/* replaying, the host runs ahead */
	{{100 * US, 20 * US, 70 * US, 70 * US}, REPRISE_VERDICT_REPLAY},
	{{100 * US, 20 * US, 95 * US, 95 * US}, REPRISE_VERDICT_REPLAY},
	{{1000 * US, 20 * US, 500 * US, 500 * US}, REPRISE_VERDICT_REPLAY},
	/* a little: an eager period is enough for the GPU to catch up */
	{{335 * US, 75 * US, 100 * US, 100 * US}, REPRISE_VERDICT_REPLAY},
	{{500 * US, 30 * US, 40 * US, 40 * US}, REPRISE_VERDICT_REPLAY},
	/* eagerly it does: replaying keeps the host for longer than the GPU needs */
	{{20 * US, 100 * US, 70 * US, 70 * US}, REPRISE_VERDICT_EAGER},
	/* always */
	{{50 * US, 20 * US, 100 * US, 100 * US}, REPRISE_VERDICT_BOUND},
	{{20 * US, 50 * US, 100 * US, 100 * US}, REPRISE_VERDICT_BOUND},
	{{2 * MS, MS, 5 * MS, 5 * MS}, REPRISE_VERDICT_BOUND},
};

START_TEST(the_verdict_is_on_what_the_loop_takes)
{
	const struct arms *arms = &loops[_i].arms;
	double eager = (double)longer(arms->eager, arms->eager_gpu),
		   replay = (double)longer(arms->replay, arms->replay_gpu);

	begin(100 * US);
	while (turns.result.tests == 0 && now < 10 * SECOND)
		runs_until(arms, now + MS);
	ck_assert_int_eq(turns.result.verdict, loops[_i].verdict);
	ck_assert_int_eq(turns.arm, loops[_i].verdict == REPRISE_VERDICT_REPLAY ? REPRISE_ARM_REPLAY
	                                                                        : REPRISE_ARM_EAGER);
	if (loops[_i].verdict == REPRISE_VERDICT_BOUND)
		ck_assert_uint_eq(turns.result.gain | turns.result.low | turns.result.high, 0);
	else if (arms->eager_gpu == arms->replay_gpu)
		ck_assert_double_eq_tol(turns.result.gain, 1000 * eager / replay, 80 * eager / replay);
}
END_TEST

START_TEST(a_look_is_of_its_period)
{
	const struct arms arms = {100 * US, 20 * US, 70 * US, 70 * US};
	uint32_t unseen;

	begin(100 * US);
	looks = false;
	while (turns.result.tests == 0)
		runs_until(&arms, now + MS);
	unseen = turns.result.gain;
	begin(100 * US);
	looks = false;
	looks_early = true;
	while (turns.result.tests == 0)
		runs_until(&arms, now + MS);
	ck_assert_uint_eq(turns.result.gain, unseen);
}
END_TEST

/* What a wrong answer makes of it: the host's own time, which is five times as short. */
START_TEST(a_backlog_is_no_gain)
{
	const struct arms arms = {100 * US, 20 * US, 95 * US, 95 * US};

	begin(100 * US);
	always_idle = true;
	while (turns.result.tests == 0)
		runs_until(&arms, now + MS);
	ck_assert_uint_gt(turns.result.gain, 4000);
	begin(100 * US);
	runs_until(&arms, SECOND);
	ck_assert_uint_lt(turns.result.gain, 1070);
}
END_TEST

/* ---- later tests ---- */

/* In the rest the launch queue fills: before the next pair the GPU is given the time to catch up.
 */
START_TEST(a_full_queue_does_not_change_the_verdict)
{
	const struct arms arms = {100 * US, 20 * US, 70 * US, 70 * US};

	begin(100 * US);
	runs_until(&arms, 60 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_ge(turns.result.tests, 4);
	ck_assert_double_eq_tol(turns.result.gain, 1000 * 100 / 70.0, 15);
}
END_TEST

/* It takes longer than may be waited for: the gain that was seen holds. */
START_TEST(a_queue_that_cannot_be_emptied_does_not_either)
{
	const struct arms arms = {100 * US, 20 * US, 98 * US, 98 * US};

	begin(100 * US);
	runs_until(&arms, 60 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_REPLAY);
	ck_assert_uint_ge(turns.result.tests, 2);
	ck_assert_uint_gt(turns.result.gain, 1000);
}
END_TEST

START_TEST(a_loop_that_is_bound_no_more_is_replayed)
{
	const struct arms before = {50 * US, 20 * US, 100 * US, 100 * US},
					  after = {50 * US, 20 * US, 10 * US, 10 * US};

	begin(100 * US);
	runs_until(&before, 6 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_BOUND);
	runs_until(&after, 12 * SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
}
END_TEST

/* The host's periods become longer then, and the loop's do not. */
START_TEST(a_queue_that_fills_is_no_change)
{
	const struct arms arms = {100 * US, 20 * US, 70 * US, 70 * US};
	uint64_t tests, until;

	begin(100 * US);
	while (turns.result.tests == 0)
		runs_until(&arms, now + MS);
	tests = turns.result.tests;
	until = now + REPRISE_TUNE_TURNS_REPLAY_NS - 10 * MS;
	runs_until(&arms, until);
	ck_assert_uint_gt(done - now, 69 * MS);
	ck_assert_uint_eq(turns.result.tests, tests);
	ck_assert(!turns.testing);
}
END_TEST

/* Graphs take the GPU longer than what they gain the host. The mean of both arms does not tell, and
 * the rest does. */
static const struct arms slower[] = {
	{100 * US, 20 * US, 70 * US, 130 * US},
	{100 * US, 20 * US, 30 * US, 110 * US},
	{MS, 20 * US, 300 * US, 2 * MS},
};

START_TEST(graphs_that_take_the_gpu_longer_are_left)
{
	const struct arms *arms = &slower[_i];
	uint64_t end, lost;

	begin(100 * US);
	runs_until(arms, 60 * SECOND);
	end = now > done ? now : done;
	lost = end > work * arms->eager ? end - work * arms->eager : 0;
	ck_assert_uint_le(lost, end / 100 + QUEUE * (arms->replay_gpu - arms->eager) + 20 * MS);
}
END_TEST

/* Until the gain is known, and then until it is known what is usual. */
static void runs_until_usual(const struct arms *arms)
{
	while (turns.result.verdict != REPRISE_VERDICT_REPLAY)
		runs_until(arms, now + MS);
	ck_assert(turns.ahead);
	runs_until(arms, now + SECOND);
}

/* The host stalls, and with it all periods for a while: that is no loss, and the verdict holds. */
START_TEST(a_stall_takes_no_gain_back)
{
	const struct arms arms = {100 * US, 60 * US, 70 * US, 65 * US};
	const struct arms stalled = {700 * US, 420 * US, 70 * US, 65 * US};
	uint64_t lost, tests;

	begin(100 * US);
	runs_until_usual(&arms);
	lost = turns.result.lost_ns;
	tests = turns.result.tests;
	runs_until(&stalled, now + 20 * MS);
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_REST);
	runs_until(&arms, now + 100 * MS);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_uint_eq(turns.result.lost_ns, lost);
	ck_assert_uint_eq(turns.result.tests, tests);
}
END_TEST

/* A loop, and the same loop where all that the host does takes longer. */
static const struct arms usual = {100 * US, 60 * US, 70 * US, 65 * US};
static const struct arms slowed = {200 * US, 120 * US, 70 * US, 65 * US};

static void begins_usually(void)
{
	begin(100 * US);
	runs_until_usual(&usual);
}

static void runs_until_check(const struct arms *arms)
{
	while (turns.phase != REPRISE_TURNS_CHECK)
		runs_until(arms, now + 1);
}

/* All that the host does takes longer now. That is no loss, and the verdict holds: eager calls are
 * looked at before a gain is taken back. */
START_TEST(a_slow_machine_takes_no_gain_back)
{
	uint64_t until, checks = 0;

	begins_usually();
	for (until = now + 3 * SECOND; now < until;) {
		bool checked = turns.phase == REPRISE_TURNS_CHECK;

		runs_until(&slowed, now + 1);
		checks += !checked && turns.phase == REPRISE_TURNS_CHECK;
		ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	}
	ck_assert_uint_eq(checks, 1);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_REPLAY);
	ck_assert_double_eq_tol(turns.result.gain, 1000 * 200 / 120.0, 15);
}
END_TEST

/* The eager periods of a check count, so that checks end where the aim does. */
START_TEST(what_a_check_loses_is_counted)
{
	const uint64_t periods = REPRISE_TUNE_TURNS_WINDOW + REPRISE_TUNE_TURN_SKIPPED_MOST;
	uint64_t lost;

	begins_usually();
	lost = turns.result.lost_ns;
	runs_until_check(&slowed);
	while (turns.phase == REPRISE_TURNS_CHECK)
		runs_until(&slowed, now + 1);
	ck_assert_uint_eq(turns.result.lost_ns, lost + periods * (200 - 120) * US);
}
END_TEST

/* Pairs may have spent all that they may. */
static void spend(uint64_t share, uint64_t free_ns)
{
	turns.regret.counted_ns = free_ns + (now - turns.regret.begun_ns) / share;
}

/* A verdict is worth more than what a check loses: so it is made where no pair could be. */
START_TEST(a_check_is_made_where_pairs_have_spent_all)
{
	begins_usually();
	spend(REPRISE_TUNE_TURNS_SHARE, REPRISE_TUNE_TURNS_FREE_NS);
	runs_until_check(&slowed);
	runs_until(&slowed, now + 100 * MS);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_REPLAY);
}
END_TEST

/* But the aim holds. Then what seems slow is left. */
START_TEST(a_check_keeps_within_the_aim)
{
	begins_usually();
	while (turns.result.verdict == REPRISE_VERDICT_REPLAY) {
		spend(REPRISE_TUNE_TURNS_AIM_SHARE, REPRISE_TUNE_TURNS_AIM_FREE_NS);
		runs_until(&slowed, now + 1);
		ck_assert_int_ne(turns.phase, REPRISE_TURNS_CHECK);
	}
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_EAGER);
}
END_TEST

/* Long periods: a check has fewer. */
START_TEST(a_check_of_long_periods_is_short)
{
	const struct arms arms = {10 * MS, 2 * MS, 7 * MS, 65 * MS / 10};
	const struct arms slow = {20 * MS, 12 * MS, 7 * MS, 65 * MS / 10};
	uint64_t began;

	begin(10 * MS);
	launches = 100;
	runs_until_usual(&arms);
	runs_until_check(&slow);
	while (turns.draining)
		runs_until(&slow, now + 1);
	began = now;
	while (turns.phase == REPRISE_TURNS_CHECK)
		runs_until(&slow, now + 1);
	ck_assert_uint_le(now - began, 4 * 20 * MS);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
}
END_TEST

/* Eager calls seem to be ahead of the GPU at a check's end. They take as long at least, so the
 * machine is slow all the same. */
START_TEST(a_check_holds_where_eager_calls_are_ahead)
{
	begins_usually();
	runs_until_check(&slowed);
	while (turns.draining)
		runs_until(&slowed, now + 1);
	while (turns.phase == REPRISE_TURNS_CHECK) {
		now += slowed.eager;
		reprise_turns_note(&turns, now, slowed.eager, true, false);
	}
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_REPLAY);
	ck_assert_int_eq(turns.arm, REPRISE_ARM_REPLAY);
}
END_TEST

/* What came before it was not slow, but for what the launch queue hid: it holds launches. */
static const struct {
	uint64_t launches, most_lost;
} queues[] = {{1, 400 * MS}, {10, 50 * MS}, {100, 30 * MS}};

START_TEST(what_becomes_slow_was_not_before)
{
	const struct arms arms = {100 * US, 60 * US, 70 * US, 65 * US};
	const struct arms slow = {100 * US, 60 * US, 70 * US, 200 * US};
	uint64_t lost, until, works;

	begin(100 * US);
	launches = queues[_i].launches;
	while (turns.result.verdict != REPRISE_VERDICT_REPLAY)
		runs_until(&arms, now + MS);
	runs_until(&arms, turns.rest_until_ns - 500 * MS);
	lost = turns.result.lost_ns;
	until = now;
	works = work;
	while (turns.phase != REPRISE_TURNS_CHECK) /* eager calls empty the queue */
		runs_until(&slow, now + MS);
	until = done - until - (work - works) * 100 * US; /* what it really was */
	ck_assert_uint_lt(now, turns.rest_until_ns);
	runs_until(&slow, now + SECOND);
	ck_assert_int_eq(turns.result.verdict, REPRISE_VERDICT_EAGER);
	ck_assert_uint_ge(turns.result.lost_ns, lost + until * 85 / 100);
	ck_assert_uint_le(turns.result.lost_ns, lost + queues[_i].most_lost);
}
END_TEST

/* ---- what it costs ---- */

/* Against eager calls from the first period on: the periods done, each as long as an eager one. */
START_TEST(what_is_lost_keeps_within_the_bound)
{
	const struct arms *arms = &loops[_i].arms;
	uint64_t each = longer(arms->eager, arms->eager_gpu), over = 0;

	begin(100 * US);
	while (now < 20 * SECOND) {
		runs_until(arms, now + MS);
		uint64_t end = longer(now, done), lost = end > work * each ? end - work * each : 0;

		over += lost > 20 * MS + end / 100;
	}
	ck_assert_uint_eq(over, 0);
}
END_TEST

/* ---- what is asked ---- */

/* Only the last period of a turn, and each one in which the GPU has to catch up. */
START_TEST(the_gpu_is_asked_at_the_end_of_a_turn)
{
	unsigned int asked = 0;

	begin(MS);
	for (unsigned int turn = 1; turn <= 6; turn++) {
		while (turns.result.turns < turn) {
			asked += reprise_turns_asks(&turns);
			reprise_turns_note(&turns, now += MS, MS, true, true);
		}
		ck_assert_uint_eq(asked, turn);
	}
	while (turns.phase != REPRISE_TURNS_REST)
		reprise_turns_note(&turns, now += MS, turns.arm == REPRISE_ARM_EAGER ? 2 * MS : MS, true,
		                   true);
	ck_assert(!reprise_turns_asks(&turns));
}
END_TEST

/* Periods of other ops say nothing of it either. */
START_TEST(the_gpu_is_asked_again_until_it_has_caught_up)
{
	begin(MS);
	while (turns.result.turns == 0)
		reprise_turns_note(&turns, now += MS, MS, true, false);
	for (unsigned int i = 0; i < 10; i++) {
		ck_assert(reprise_turns_asks(&turns));
		reprise_turns_note(&turns, now += MS, MS, i % 2 == 0, i % 2 != 0);
	}
	ck_assert(turns.draining);
	reprise_turns_note(&turns, now += MS, MS, true, true);
	ck_assert(!turns.draining);
	ck_assert(!reprise_turns_asks(&turns));
	ck_assert_int_eq(turns.phase, REPRISE_TURNS_SECOND);
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("behind");
	TCase *tests = tcase_create("behind");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, the_verdict_is_on_what_the_loop_takes, 0, ALL(loops));
	tcase_add_test(tests, a_look_is_of_its_period);
	tcase_add_test(tests, a_backlog_is_no_gain);
	tcase_add_test(tests, a_full_queue_does_not_change_the_verdict);
	tcase_add_test(tests, a_queue_that_cannot_be_emptied_does_not_either);
	tcase_add_test(tests, a_loop_that_is_bound_no_more_is_replayed);
	tcase_add_test(tests, a_queue_that_fills_is_no_change);
	tcase_add_loop_test(tests, graphs_that_take_the_gpu_longer_are_left, 0, ALL(slower));
	tcase_add_test(tests, a_stall_takes_no_gain_back);
	tcase_add_test(tests, a_slow_machine_takes_no_gain_back);
	tcase_add_test(tests, what_a_check_loses_is_counted);
	tcase_add_test(tests, a_check_is_made_where_pairs_have_spent_all);
	tcase_add_test(tests, a_check_keeps_within_the_aim);
	tcase_add_test(tests, a_check_of_long_periods_is_short);
	tcase_add_test(tests, a_check_holds_where_eager_calls_are_ahead);
	tcase_add_loop_test(tests, what_becomes_slow_was_not_before, 0,
	                    sizeof(queues) / sizeof(*queues));
	tcase_add_loop_test(tests, what_is_lost_keeps_within_the_bound, 0, ALL(loops));
	tcase_add_test(tests, the_gpu_is_asked_at_the_end_of_a_turn);
	tcase_add_test(tests, the_gpu_is_asked_again_until_it_has_caught_up);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
