/* What eager calls cost: by kind and by the way of a copy, without what they wait for. */
#include "../../suite.h"
#include "base/quartile.h"
#include "op/cost.h"

#define COST 100
#define WAIT 1000000

static void note(uint64_t ticks, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		reprise_op_cost_note(REPRISE_OP_KERNEL, REPRISE_WAY_NONE, ticks);
}

static uint64_t cost(void)
{
	return reprise_op_cost(REPRISE_OP_KERNEL, REPRISE_WAY_NONE);
}

START_TEST(a_call_that_was_never_timed_has_no_cost)
{
	ck_assert_uint_eq(cost(), 0);
	ck_assert_uint_eq(reprise_op_cost_of_kind(REPRISE_OP_KERNEL), 0);
	note(COST, 1);
	ck_assert_uint_eq(cost(), COST);
	note(0, 100);
	ck_assert_uint_eq(cost(), 1); /* 0 says that nothing is known */
	note(COST, 200);
	ck_assert_uint_eq(cost(), COST);
}
END_TEST

/* One call in two waits, from the first on. */
START_TEST(what_calls_wait_for_is_not_in_it)
{
	for (unsigned int i = 0; i < 400; i++) {
		note(i % 2 == 0 ? WAIT : COST + i % 7, 1);
		if (i >= 3)
			ck_assert_uint_le(cost(), COST + 7);
	}
	ck_assert_uint_ge(cost(), COST);
}
END_TEST

START_TEST(a_full_stream_makes_it_dearer_slowly_and_is_forgotten_at_once)
{
	note(COST, 80);
	note(WAIT, 8);
	ck_assert_uint_gt(cost(), COST);
	ck_assert_uint_le(cost(), COST * 7 / 4);
	note(WAIT, 80);
	ck_assert_uint_gt(cost(), 2 * COST);
	note(COST, 8);
	ck_assert_uint_eq(cost(), COST);
}
END_TEST

START_TEST(it_follows_what_calls_cost)
{
	note(COST, 100);
	note(4 * COST, 100);
	ck_assert_uint_ge(cost(), 4 * COST * 7 / 8);
	ck_assert_uint_le(cost(), 4 * COST);
	note(3 * COST, 100);
	ck_assert_uint_ge(cost(), 3 * COST);
	ck_assert_uint_le(cost(), 3 * COST * 9 / 8);
}
END_TEST

static const struct {
	enum reprise_memory target, source;
	enum reprise_way way;
} ways[] = {
	{REPRISE_MEMORY_DEVICE, REPRISE_MEMORY_DEVICE, REPRISE_WAY_WITHIN},
	{REPRISE_MEMORY_DEVICE, REPRISE_MEMORY_PINNED, REPRISE_WAY_TO_DEVICE},
	{REPRISE_MEMORY_PINNED, REPRISE_MEMORY_DEVICE, REPRISE_WAY_FROM_DEVICE},
	{REPRISE_MEMORY_DEVICE, REPRISE_MEMORY_OTHER, REPRISE_WAY_PAGEABLE_TO_DEVICE},
	{REPRISE_MEMORY_OTHER, REPRISE_MEMORY_DEVICE, REPRISE_WAY_PAGEABLE_FROM_DEVICE},
	{REPRISE_MEMORY_PINNED, REPRISE_MEMORY_PINNED, REPRISE_WAY_PAGEABLE_FROM_DEVICE},
};
#define WAYS (sizeof(ways) / sizeof(*ways))

/* Each is timed nine times, and costs the more the later it stands in the table. */
START_TEST(each_way_of_a_copy_has_its_own)
{
	static const enum reprise_op_kind kinds[] = {REPRISE_OP_COPY, REPRISE_OP_COPY_2D,
	                                             REPRISE_OP_COPY_3D};
	struct reprise_op op = {.kind = kinds[_i]};
	unsigned int differing = WAYS - 1; /* the last two are one */

	for (unsigned int i = 0; i < differing; i++) {
		op.target_memory = (uint8_t)ways[i].target;
		op.source_memory = (uint8_t)ways[i].source;
		ck_assert_int_eq(reprise_op_way(&op), ways[i].way);
		ck_assert(!reprise_op_cost_is_known(&op));
		for (unsigned int time = 0; time < 9; time++)
			reprise_op_cost_note(op.kind, reprise_op_way(&op), COST * (i + 1));
		ck_assert(reprise_op_cost_is_known(&op));
	}
	for (unsigned int i = 0; i < differing; i++)
		ck_assert_uint_eq(reprise_op_cost(op.kind, ways[i].way), COST * (i + 1));
	ck_assert_uint_eq(reprise_op_cost_of_kind(op.kind), COST * (differing + 1) / 2);
	op.target_memory = op.source_memory = REPRISE_MEMORY_PINNED;
	ck_assert_int_eq(reprise_op_way(&op), ways[WAYS - 1].way);
}
END_TEST

START_TEST(a_copy_that_nobody_looked_at_is_passed_over)
{
	reprise_op_cost_note(REPRISE_OP_COPY, REPRISE_WAY_NONE, COST);
	ck_assert_uint_eq(reprise_op_cost_of_kind(REPRISE_OP_COPY), 0);
	reprise_op_cost_note(REPRISE_OP_KERNEL, REPRISE_WAY_WITHIN, COST);
	ck_assert_uint_eq(reprise_op_cost_of_kind(REPRISE_OP_KERNEL), 0);
}
END_TEST

START_TEST(a_few_readings_decide_nothing)
{
	struct reprise_op op = {.kind = REPRISE_OP_KERNEL};

	for (unsigned int i = 0; i < REPRISE_QUARTILE_READINGS; i++) {
		ck_assert(!reprise_op_cost_is_known(&op));
		note(COST, 1);
	}
	ck_assert(reprise_op_cost_is_known(&op));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost");
	TCase *tests = tcase_create("cost");

	tcase_add_test(tests, a_call_that_was_never_timed_has_no_cost);
	tcase_add_test(tests, what_calls_wait_for_is_not_in_it);
	tcase_add_test(tests, a_full_stream_makes_it_dearer_slowly_and_is_forgotten_at_once);
	tcase_add_test(tests, it_follows_what_calls_cost);
	tcase_add_loop_test(tests, each_way_of_a_copy_has_its_own, 0, 3);
	tcase_add_test(tests, a_copy_that_nobody_looked_at_is_passed_over);
	tcase_add_test(tests, a_few_readings_decide_nothing);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
