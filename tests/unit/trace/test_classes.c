/* Classes of short visits: which there are, and whether they gain. An eager op costs a thousand
 * ticks here. */
#include <string.h>

#include "../../suite.h"
#include "base/quartile.h"
#include "base/tuning.h"
#include "op/cost.h"
#include "trace/balance.h"
#include "trace/classes.h"
#include "ops.h"

#define TRY (REPRISE_TUNE_CLASS_COLD + REPRISE_TUNE_CLASS_TRIED) /* visits */
#define EAGER 1000
#define OPS_MOST 5

static struct reprise_op ops[OPS_MOST];
static struct reprise_trace trace;

/* The ops, all alike but for their place. */
static void ops_are(enum reprise_op_kind kind, enum reprise_memory target,
                    enum reprise_memory source)
{
	for (unsigned int i = 0; i < OPS_MOST; i++) {
		ops[i] = op_of(i, i);
		ops[i].kind = kind;
		ops[i].target_memory = (uint8_t)target;
		ops[i].source_memory = (uint8_t)source;
	}
}

/* The trace is of the first `count` ops, and eager calls like them were timed. */
static void trace_is_of(unsigned int count)
{
	trace = (struct reprise_trace){.count = count,
	                               .ops = ops,
	                               .visit_class = reprise_class_of(ops, count)};
	for (unsigned int i = 0; i < count * REPRISE_QUARTILE_READINGS; i++)
		reprise_op_cost_note(ops[i % count].kind, reprise_op_way(&ops[i % count]), EAGER);
}

static void setup(void)
{
	ops_are(REPRISE_OP_KERNEL, REPRISE_MEMORY_DEVICE, REPRISE_MEMORY_DEVICE);
}

/* So many visits come, each of which takes `ticks` if it is replayed. Returns how many were. */
static unsigned int replays_of(unsigned int visits, uint64_t ticks)
{
	unsigned int replayed = 0;

	for (unsigned int visit = 0; visit < visits; visit++) {
		if (!reprise_class_take_visit(&trace, false))
			continue;
		replayed++;
		reprise_class_replayed(&trace, false, ticks);
	}
	return replayed;
}

START_TEST(only_short_visits_and_copies_alone_have_one)
{
	ck_assert_uint_ne(reprise_class_of(ops, 1), 0);
	ck_assert_uint_ne(reprise_class_of(ops, 2), reprise_class_of(ops, 1));
	ck_assert_uint_eq(reprise_class_of(ops, 3), reprise_class_of(ops, 2));
	ck_assert_uint_eq(reprise_class_of(ops, 4), 0);
	ops_are(REPRISE_OP_COPY, REPRISE_MEMORY_DEVICE, REPRISE_MEMORY_DEVICE);
	ck_assert_uint_ne(reprise_class_of(ops, 5), 0);
	ck_assert_uint_ne(reprise_class_of(ops, 5), reprise_class_of(ops, 3));
	ops[4].kind = REPRISE_OP_SET;
	ck_assert_uint_eq(reprise_class_of(ops, 5), 0);
	ck_assert_uint_ne(reprise_class_of(ops, 4), 0);
}
END_TEST

static const struct {
	enum reprise_op_kind kind;
	enum reprise_memory target, source;
} nodes[] = {
	{REPRISE_OP_KERNEL, 0, 0},
	{REPRISE_OP_SET, REPRISE_MEMORY_DEVICE, REPRISE_MEMORY_DEVICE},
	{REPRISE_OP_HOST, 0, 0},
	{REPRISE_OP_COPY, REPRISE_MEMORY_DEVICE, REPRISE_MEMORY_DEVICE},
	{REPRISE_OP_COPY, REPRISE_MEMORY_DEVICE, REPRISE_MEMORY_PINNED},
	{REPRISE_OP_COPY_2D, REPRISE_MEMORY_PINNED, REPRISE_MEMORY_DEVICE},
};
#define NODES (sizeof(nodes) / sizeof(*nodes))

START_TEST(visits_of_other_nodes_are_of_other_classes)
{
	bool seen[256] = {false};

	for (unsigned int i = 0; i < NODES; i++) {
		for (unsigned int k = 0; k <= i; k++) {
			uint8_t class;

			ops_are(nodes[i].kind, nodes[i].target, nodes[i].source);
			ops[1].kind = nodes[k].kind;
			ops[1].target_memory = (uint8_t)nodes[k].target;
			ops[1].source_memory = (uint8_t)nodes[k].source;
			class = reprise_class_of(ops, 2);
			ck_assert_uint_ne(class, 0);
			ck_assert(!seen[class]);
			seen[class] = true;
		}
	}
}
END_TEST

START_TEST(nothing_is_replayed_before_eager_calls_were_timed)
{
	trace = (struct reprise_trace){.count = 2, .ops = ops, .visit_class = reprise_class_of(ops, 2)};
	ops[1].kind = REPRISE_OP_SET;
	ck_assert_uint_eq(replays_of(50, EAGER / 10), 0);
	for (unsigned int i = 0; i < REPRISE_QUARTILE_READINGS; i++)
		reprise_op_cost_note(REPRISE_OP_KERNEL, REPRISE_WAY_NONE, EAGER);
	ck_assert_uint_eq(replays_of(50, EAGER / 10), 0); /* of one of the two */
	for (unsigned int i = 0; i < REPRISE_QUARTILE_READINGS; i++)
		reprise_op_cost_note(REPRISE_OP_SET, REPRISE_WAY_NONE, EAGER);
	ck_assert_uint_eq(replays_of(50, EAGER / 10), 50);
}
END_TEST

START_TEST(what_gains_is_replayed_but_for_one_in_many)
{
	trace_is_of(1);
	ck_assert(!reprise_class_gains(trace.visit_class, false));
	ck_assert_uint_eq(replays_of(TRY, EAGER / 2), TRY);
	ck_assert(reprise_class_gains(trace.visit_class, false));
	ck_assert(reprise_class_wants_builds(trace.visit_class, false));
	ck_assert_uint_eq(replays_of(10 * REPRISE_TUNE_CLASS_EAGER, EAGER / 2),
	                  10 * (REPRISE_TUNE_CLASS_EAGER - 1));
	ck_assert(!reprise_class_gains(trace.visit_class, true)); /* patched, it is another class */
}
END_TEST

/* Replays of a class that is tried are dearer than eager calls at first. */
START_TEST(the_first_visits_behind_eager_calls_do_not_count)
{
	trace_is_of(1);
	ck_assert_uint_eq(replays_of(REPRISE_TUNE_CLASS_COLD, 5 * EAGER), REPRISE_TUNE_CLASS_COLD);
	ck_assert_uint_eq(replays_of(REPRISE_TUNE_CLASS_TRIED, EAGER / 2), REPRISE_TUNE_CLASS_TRIED);
	ck_assert(reprise_class_gains(trace.visit_class, false));
}
END_TEST

/* Rests are of 256 visits, 512, and so on: seven tries in so many. What gains less than a tenth
 * does not gain. */
START_TEST(what_does_not_gain_is_tried_now_and_then)
{
	trace_is_of(_i == 0 ? 1 : 3);
	ck_assert_uint_eq(replays_of(20000, trace.count * EAGER * (_i < 2 ? 95 : 400) / 100), 7 * TRY);
	ck_assert(!reprise_class_wants_builds(trace.visit_class, false));
}
END_TEST

START_TEST(one_slow_visit_of_a_try_is_forgiven)
{
	trace_is_of(1);
	ck_assert_uint_eq(replays_of(1, 100 * EAGER), 1);
	ck_assert_uint_eq(replays_of(100, EAGER / 2), 100);
}
END_TEST

START_TEST(what_gains_later_is_found_and_left_again)
{
	unsigned int visits = 0;

	trace_is_of(1);
	replays_of(2000, 3 * EAGER);
	while (!reprise_class_gains(trace.visit_class, false) && visits < 10000)
		visits += 1 + 0 * replays_of(1, EAGER / 2);
	ck_assert_uint_le(visits, 2100); /* no longer than it has rested in all */
	replays_of(1000, EAGER / 2);
	ck_assert_uint_le(replays_of(200, 3 * EAGER), 4 * REPRISE_QUARTILE_READINGS);
	ck_assert(!reprise_class_wants_builds(trace.visit_class, false));
	/* It had gained for long, so its rest is short again. */
	ck_assert_uint_ge(replays_of(1000, EAGER / 2), 700);
}
END_TEST

START_TEST(a_few_graphs_are_built_to_try_a_class)
{
	unsigned int built = 0;

	trace_is_of(1);
	for (unsigned int i = 0; i < 100; i++)
		built += reprise_class_take_build(trace.visit_class, false);
	ck_assert_uint_eq(built, REPRISE_TUNE_CLASS_BUILDS);
	replays_of(TRY, 2 * EAGER);
	ck_assert(!reprise_class_take_build(trace.visit_class, false));
	replays_of(REPRISE_TUNE_CLASS_REST, 2 * EAGER); /* the rest is over */
	ck_assert(reprise_class_take_build(trace.visit_class, false));
	replays_of(10 * REPRISE_TUNE_CLASS_REST, EAGER / 2);
	for (unsigned int i = 0; i < 100; i++)
		ck_assert(reprise_class_take_build(trace.visit_class, false));
}
END_TEST

/* Their values never came again. */
START_TEST(where_these_are_never_launched_more_are_built_after_a_while)
{
	unsigned int built = 0;

	trace_is_of(1);
	for (unsigned int i = 0; i < 20000; i++) {
		built += reprise_class_take_build(trace.visit_class, false);
		reprise_class_take_visit(&trace, false); /* and a side exit comes */
	}
	ck_assert_uint_ge(built, 4 * REPRISE_TUNE_CLASS_BUILDS);
	ck_assert_uint_le(built, 8 * REPRISE_TUNE_CLASS_BUILDS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("classes");
	TCase *tests = tcase_create("classes");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, only_short_visits_and_copies_alone_have_one);
	tcase_add_test(tests, visits_of_other_nodes_are_of_other_classes);
	tcase_add_test(tests, nothing_is_replayed_before_eager_calls_were_timed);
	tcase_add_test(tests, the_first_visits_behind_eager_calls_do_not_count);
	tcase_add_test(tests, what_gains_is_replayed_but_for_one_in_many);
	tcase_add_loop_test(tests, what_does_not_gain_is_tried_now_and_then, 0, 3);
	tcase_add_test(tests, one_slow_visit_of_a_try_is_forgiven);
	tcase_add_test(tests, what_gains_later_is_found_and_left_again);
	tcase_add_test(tests, a_few_graphs_are_built_to_try_a_class);
	tcase_add_test(tests, where_these_are_never_launched_more_are_built_after_a_while);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
