/* Ops, as far as no driver is asked. */
#include <string.h>

#include "../../suite.h"
#include "op/op.h"

static void called(void *data)
{
	(void)data;
}

/* They are examined in memory that another op was in. */
START_TEST(an_op_that_copies_nothing_is_not_between_devices)
{
	const struct reprise_call call = {.kind = REPRISE_OP_HOST, .host = {.function = called}};
	struct reprise_op op;

	memset(&op, 0, sizeof(op));
	op.target_memory = 1 << 4; /* another device's */
	ck_assert(reprise_op_is_between_devices(&op));
	ck_assert_int_eq(reprise_op_examine(&op, &call, NULL), REPRISE_UNFIT_NONE);
	ck_assert(!reprise_op_is_between_devices(&op));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("op");
	TCase *tests = tcase_create("op");

	tcase_add_test(tests, an_op_that_copies_nothing_is_not_between_devices);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
