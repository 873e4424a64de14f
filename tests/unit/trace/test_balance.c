/* Whether a trace pays. An eager op costs a hundred ticks here, so a visit of ten costs a thousand.
 */
#include "../../suite.h"
#include "op/cost.h"
#include "trace/balance.h"
#include "ops.h"

#define OPS 10
#define VISIT 1000

static struct reprise_op ops[OPS];
static struct reprise_trace trace;

static void setup(void)
{
	for (unsigned int i = 0; i < OPS; i++)
		ops[i] = op_of(i, i);
	trace = (struct reprise_trace){.count = OPS, .ops = ops};
	for (unsigned int i = 0; i < 100; i++)
		reprise_op_cost_note(REPRISE_OP_SET, REPRISE_WAY_NONE, VISIT / OPS);
}

/* How many visits of so many ticks it takes until the trace does not pay; 0 if a thousand do not.
 */
static unsigned int visits_until_loss(uint64_t ticks)
{
	for (unsigned int visit = 1; visit <= 1000; visit++) {
		trace.visits++;
		if (reprise_balance_wants(&trace) && !reprise_balance_replayed(&trace, ticks))
			return visit;
	}
	return 0;
}

START_TEST(what_is_cheaper_than_eager_pays)
{
	ck_assert_uint_eq(visits_until_loss(VISIT * 3 / 4), 0);
	ck_assert_uint_eq(visits_until_loss(VISIT * 21 / 20), 0); /* nor does noise */
}
END_TEST

static const struct {
	uint64_t ticks;
	unsigned int most;
} losses[] = {{VISIT * 3 / 2, 20}, {VISIT * 3, 6}, {VISIT * 1000, 3}};

START_TEST(what_is_dearer_does_not_for_long)
{
	unsigned int visits = visits_until_loss(losses[_i].ticks);

	ck_assert_uint_ge(visits, 2);
	ck_assert_uint_le(visits, losses[_i].most);
	ck_assert_int_eq(trace.balance, 0); /* it begins anew when it comes back */
}
END_TEST

START_TEST(one_outlier_is_forgiven)
{
	ck_assert(reprise_balance_replayed(&trace, VISIT * 1000));
	ck_assert_uint_eq(visits_until_loss(VISIT / 2), 0);
	ck_assert(reprise_balance_replayed(&trace, VISIT * 1000));
	ck_assert(reprise_balance_replayed(&trace, VISIT * 1000));
}
END_TEST

START_TEST(what_has_paid_for_long_is_timed_now_and_then_and_found_out_when_it_no_longer_does)
{
	unsigned int timed = 0, visits;

	visits_until_loss(VISIT / 2);
	for (unsigned int i = 0; i < 800; i++, trace.visits++)
		timed += reprise_balance_wants(&trace);
	ck_assert_uint_eq(timed, 100);
	visits = visits_until_loss(VISIT * 3);
	ck_assert_uint_ge(visits, 1);
	ck_assert_uint_le(visits, 80);
}
END_TEST

START_TEST(side_exits_count)
{
	unsigned int exits = 0;

	while (reprise_balance_side_exit(&trace, VISIT) && exits < 100)
		exits++;
	ck_assert_uint_ge(exits, 4);
	ck_assert_uint_le(exits, 16);
}
END_TEST

/* Whichever of its ops are of that kind: the first, the last, one between, or all. */
static const struct {
	unsigned int from, to;
} of_unknown_kind[] = {{0, 0}, {OPS - 1, OPS - 1}, {4, 4}, {0, OPS - 1}};

START_TEST(nothing_is_known_of_a_visit_with_a_kind_that_never_was_eager)
{
	for (unsigned int i = of_unknown_kind[_i].from; i <= of_unknown_kind[_i].to; i++)
		ops[i].kind = REPRISE_OP_COPY;
	ck_assert_uint_eq(visits_until_loss(VISIT * 1000), 0);
	for (unsigned int exits = 0; exits < 100; exits++)
		ck_assert(reprise_balance_side_exit(&trace, VISIT * 1000));
	ck_assert_int_eq(trace.balance, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("balance");
	TCase *tests = tcase_create("balance");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, what_is_cheaper_than_eager_pays);
	tcase_add_loop_test(tests, what_is_dearer_does_not_for_long, 0,
	                    sizeof(losses) / sizeof(*losses));
	tcase_add_test(tests, one_outlier_is_forgiven);
	tcase_add_test(
		tests, what_has_paid_for_long_is_timed_now_and_then_and_found_out_when_it_no_longer_does);
	tcase_add_test(tests, side_exits_count);
	tcase_add_loop_test(tests, nothing_is_known_of_a_visit_with_a_kind_that_never_was_eager, 0,
	                    sizeof(of_unknown_kind) / sizeof(*of_unknown_kind));
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
