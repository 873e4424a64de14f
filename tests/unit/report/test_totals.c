/* The whole and what was saved of it, where calls have become cheaper or dearer meanwhile. */
#include <string.h>

#include "../../suite.h"
#include "base/clock.h"
#include "graph/cost.h"
#include "lane/registry.h"
#include "op/cost.h"
#include "stats/counters.h"
#include "report/totals.h"

#define BUSY_TICKS 100000u
#define QUIET_TICKS 1000u
#define REPLAYS 1000u
#define COUNT 10u /* ops of the trace */

/* ---- in place of the rooms further in: one lane ---- */

static struct reprise_lane lane;
_Atomic uint64_t reprise_ops_without_lane;
bool reprise_reporting = true, reprise_observing;
_Atomic bool reprise_kernels_working;

void reprise_lanes_each(void (*visit)(struct reprise_lane *lane, void *context), void *context)
{
	visit(&lane, context);
}

uint64_t reprise_counted(enum reprise_counter counter)
{
	return 0;
}

/* ---- the tests ---- */

static void costs(enum reprise_op_kind kind, uint64_t ticks)
{
	for (int i = 0; i < 200; i++)
		reprise_op_cost_note(kind, REPRISE_WAY_NONE, ticks);
}

static uint64_t ns_of(uint64_t ops, uint64_t ticks)
{
	return reprise_clock_ticks_to_ns(ops * ticks);
}

static void assert_near(uint64_t one, uint64_t other)
{
	ck_assert_uint_le(one, other + other / 50);
	ck_assert_uint_ge(one, other - other / 50);
}

/* A trace of kernels that was replayed, and has ended; `more` ops passed beside it, and `unseen`
 * others were not looked at. */
static void run_and_end(uint64_t more, uint64_t unseen)
{
	struct reprise_op ops[COUNT] = {0};
	bool any_value[COUNT] = {false};
	uint64_t shapes[COUNT + 1] = {0};
	struct reprise_trace trace = {.count = COUNT,
	                              .ops = ops,
	                              .any_value = any_value,
	                              .shape_before = shapes,
	                              .replays = REPLAYS};

	for (unsigned int i = 0; i < COUNT; i++)
		ops[i].kind = REPRISE_OP_KERNEL;
	reprise_accounts_reset();
	memset(&lane.counts, 0, sizeof(lane.counts));
	lane.counts.ops = REPLAYS * COUNT + more;
	lane.counts.replayed = REPLAYS * COUNT;
	lane.counts.kinds[REPRISE_OP_KERNEL] = REPLAYS * COUNT;
	lane.counts.kinds[REPRISE_OP_SET] = more;
	reprise_ops_without_lane = unseen;
	reprise_account_ended(&trace, 1);
}

START_TEST(what_was_saved_is_never_more_than_the_whole)
{
	const struct reprise_totals *totals;

	costs(REPRISE_OP_KERNEL, BUSY_TICKS);
	run_and_end(100, 100);
	costs(REPRISE_OP_KERNEL, QUIET_TICKS);
	totals = reprise_totals_take();
	ck_assert(totals->gain.kind_measured[REPRISE_OP_KERNEL] && totals->gain.eager_measured);
	ck_assert(!totals->gain.kind_measured[REPRISE_OP_SET]);
	ck_assert_uint_le(totals->gain.replaced_ns, totals->gain.all_ns);
	ck_assert_int_le(totals->gain.saved_ns, (int64_t)totals->gain.all_ns);
	assert_near(totals->gain.replaced_ns, ns_of(REPLAYS * COUNT, BUSY_TICKS));
}
END_TEST

START_TEST(what_was_not_replaced_has_todays_price)
{
	const struct reprise_totals *totals;

	costs(REPRISE_OP_KERNEL, QUIET_TICKS);
	costs(REPRISE_OP_SET, QUIET_TICKS);
	run_and_end(REPLAYS * COUNT, 2 * REPLAYS * COUNT);
	costs(REPRISE_OP_KERNEL, BUSY_TICKS);
	costs(REPRISE_OP_SET, BUSY_TICKS);
	totals = reprise_totals_take();
	assert_near(totals->gain.replaced_ns, ns_of(REPLAYS * COUNT, QUIET_TICKS));
	assert_near(totals->gain.all_ns,
	            ns_of(REPLAYS * COUNT, QUIET_TICKS) + ns_of(3 * REPLAYS * COUNT, BUSY_TICKS));
}
END_TEST

START_TEST(where_nothing_changed_all_ops_cost_what_they_do)
{
	const struct reprise_totals *totals;

	costs(REPRISE_OP_KERNEL, QUIET_TICKS);
	costs(REPRISE_OP_SET, BUSY_TICKS);
	run_and_end(REPLAYS * COUNT, 0);
	totals = reprise_totals_take();
	assert_near(totals->gain.all_ns,
	            ns_of(REPLAYS * COUNT, QUIET_TICKS) + ns_of(REPLAYS * COUNT, BUSY_TICKS));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report totals");
	TCase *tests = tcase_create("totals");

	reprise_clock_start();
	tcase_add_test(tests, what_was_saved_is_never_more_than_the_whole);
	tcase_add_test(tests, what_was_not_replaced_has_todays_price);
	tcase_add_test(tests, where_nothing_changed_all_ops_cost_what_they_do);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
