/* Kin: who they are, and what they may spend on graphs. */
#include <string.h>

#include "../../suite.h"
#include "base/tuning.h"
#include "graph/cost.h"
#include "op/cost.h"
#include "trace/index.h"
#include "trace/kin.h"
#include "ops.h"

#define OPS 4

static struct reprise_kin_table table;
static struct reprise_index index_of_lane;
static struct reprise_op ops[OPS];
static bool any_value[OPS];
static struct reprise_capture_streams streams;

static uint64_t kin(void)
{
	return reprise_kin_of(ops, any_value, OPS);
}

static bool built(void)
{
	return reprise_kin_take_build(&table, &index_of_lane, kin(), ops, OPS);
}

static void setup(void)
{
	reprise_clock_start();
	for (unsigned int i = 0; i < OPS; i++)
		ops[i] = op_of(i, i);
	/* A launch costs so much that one replay saves a third of a graph's price. */
	reprise_cost_took(REPRISE_COST_launch,
	                  reprise_cost(REPRISE_COST_eager, OPS) -
	                      REPRISE_TUNE_KIN_BUILD * reprise_cost(REPRISE_COST_build, OPS) / 3,
	                  1);
}

START_TEST(values_and_sizes_do_not_matter_and_the_rest_does)
{
	uint64_t before = kin();

	ck_assert_uint_ne(before, 0);
	ops[1] = op_of(7, 8);
	ck_assert_uint_eq(kin(), before);
	ck_assert_uint_ne(reprise_kin_of(ops, any_value, OPS - 1), before);
	ops[1].kind = REPRISE_OP_COPY;
	ops[1].source_memory = REPRISE_MEMORY_PINNED;
	ck_assert_uint_ne(kin(), before);
	before = kin();
	ops[1].source_memory = REPRISE_MEMORY_DEVICE;
	ck_assert_uint_ne(kin(), before);
	ops[1].kind = REPRISE_OP_KERNEL;
	before = kin();
	ops[1].value++;
	ck_assert_uint_eq(kin(), before);
	ops[1].shape++; /* another kernel */
	ck_assert_uint_ne(kin(), before);
}
END_TEST

START_TEST(any_value_traces_have_none)
{
	any_value[2] = true;
	ck_assert_uint_eq(kin(), 0);
	for (unsigned int i = 0; i < 10 * REPRISE_TUNE_KIN_FREE; i++)
		ck_assert(built());
}
END_TEST

/* Each visit without a graph would have saved a third of its price. */
START_TEST(visits_without_a_graph_pay_for_one)
{
	unsigned int graphs = 0;

	for (unsigned int i = 0; i < REPRISE_TUNE_KIN_FREE; i++)
		ck_assert(built());
	for (unsigned int i = 0; i < 400; i++)
		graphs += built();
	ck_assert_uint_ge(graphs, 120);
	ck_assert_uint_le(graphs, 160);
}
END_TEST

static struct reprise_trace *trace_of_kin(void)
{
	static const struct reprise_position position = {.before = REPRISE_BEFORE_WAIT};
	struct reprise_trace *trace = reprise_trace_new(ops, any_value, OPS, &position, &streams);

	ck_assert_ptr_nonnull(trace);
	trace->kin = kin();
	reprise_index_add(&index_of_lane, trace);
	return trace;
}

static unsigned int built_at_once(void)
{
	unsigned int graphs = 0;

	while (built() && graphs < 1000)
		graphs++;
	return graphs;
}

START_TEST(replays_pay_once)
{
	struct reprise_trace *trace = trace_of_kin();

	built_at_once();
	trace->replays = 30;
	ck_assert_uint_ge(built_at_once(), 10);
	ck_assert_uint_le(built_at_once(), 1);
	trace->replays += 30;
	if (_i == 1) { /* it ends meanwhile */
		reprise_kin_ended(&table, trace);
		reprise_index_remove(&index_of_lane, trace);
		reprise_trace_free(trace);
	}
	ck_assert_uint_ge(built_at_once(), 10);
}
END_TEST

START_TEST(not_more_than_so_many_are_paid_for_ahead)
{
	struct reprise_trace *trace = trace_of_kin();

	trace->replays = 1000000;
	ck_assert_uint_le(built_at_once(), 2 * REPRISE_TUNE_KIN_MOST);
}
END_TEST

START_TEST(kin_have_their_own_accounts)
{
	built_at_once();
	ops[0].kind = REPRISE_OP_KERNEL;
	ck_assert_uint_ge(built_at_once(), REPRISE_TUNE_KIN_FREE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kin");
	TCase *tests = tcase_create("kin");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, values_and_sizes_do_not_matter_and_the_rest_does);
	tcase_add_test(tests, any_value_traces_have_none);
	tcase_add_test(tests, visits_without_a_graph_pay_for_one);
	tcase_add_loop_test(tests, replays_pay_once, 0, 2);
	tcase_add_test(tests, not_more_than_so_many_are_paid_for_ahead);
	tcase_add_test(tests, kin_have_their_own_accounts);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
