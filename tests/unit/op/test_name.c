/* Rows of kernels' names: one for each name, and one for all that have none. */
#include <stdio.h>
#include <string.h>

#include "../../suite.h"
#include "op/name.h"

#define OTHERS (REPRISE_NAMES_MOST - 1)

static const char *name_at(unsigned int row)
{
	uint64_t seen;

	return reprise_name_at((uint16_t)row, &seen);
}

static uint64_t seen_at(unsigned int row)
{
	uint64_t seen;

	reprise_name_at((uint16_t)row, &seen);
	return seen;
}

static uint16_t row_of(unsigned int number)
{
	char name[32];

	snprintf(name, sizeof(name), "kernel%u", number);
	return reprise_name_row(name);
}

START_TEST(each_name_has_a_row_for_good)
{
	char name[] = "first";

	ck_assert_uint_eq(reprise_name_row(NULL), 0);
	ck_assert_uint_eq(reprise_name_row(name), 1);
	ck_assert_uint_eq(reprise_name_row("second"), 2);
	ck_assert_uint_eq(reprise_name_row("firs"), 3);
	ck_assert_uint_eq(reprise_name_row("firsts"), 4);
	memset(name, 'x', 5); /* the driver may free it */
	ck_assert_str_eq(name_at(1), "first");
	ck_assert_uint_eq(reprise_name_row("first"), 1);
	ck_assert_uint_eq(reprise_name_row("second"), 2);
	ck_assert_ptr_null(name_at(5));
}
END_TEST

START_TEST(names_without_a_row_are_others)
{
	for (unsigned int i = 1; i < OTHERS; i++)
		ck_assert_uint_eq(row_of(i), i);
	for (unsigned int i = OTHERS; i < OTHERS + 10; i++)
		ck_assert_uint_eq(row_of(i), OTHERS);
	ck_assert_str_eq(name_at(OTHERS), "others");
	for (unsigned int i = 1; i < OTHERS; i++)
		ck_assert_uint_eq(row_of(i), i);
	ck_assert_str_eq(name_at(OTHERS - 1), "kernel254");
}
END_TEST

/* So many characters are kept and compared. */
START_TEST(a_long_name_is_kept_as_far_as_there_is_room)
{
	char name[1001];

	memset(name, 'n', 1000);
	name[1000] = '\0';
	ck_assert_uint_eq(reprise_name_row(name), 1);
	ck_assert_uint_eq(strlen(name_at(1)), 512);
	name[600] = 'x';
	ck_assert_uint_eq(reprise_name_row(name), 1);
	name[511] = 'x';
	ck_assert_uint_eq(reprise_name_row(name), 2);
}
END_TEST

START_TEST(launches_are_counted_by_name_until_a_fork)
{
	uint16_t one = reprise_name_row("one"), two = reprise_name_row("two");

	reprise_name_seen(0);
	reprise_name_seen(one);
	reprise_name_seen(two);
	reprise_name_seen(two);
	ck_assert_uint_eq(seen_at(0), 0);
	ck_assert_uint_eq(seen_at(one), 1);
	ck_assert_uint_eq(seen_at(two), 2);
	reprise_names_reset();
	ck_assert_uint_eq(seen_at(one) + seen_at(two), 0);
	ck_assert_str_eq(name_at(two), "two");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("name");
	TCase *tests = tcase_create("name");

	tcase_add_test(tests, each_name_has_a_row_for_good);
	tcase_add_test(tests, names_without_a_row_are_others);
	tcase_add_test(tests, a_long_name_is_kept_as_far_as_there_is_room);
	tcase_add_test(tests, launches_are_counted_by_name_until_a_fork);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
