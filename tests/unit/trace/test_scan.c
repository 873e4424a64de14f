/* What a scan finds (src/trace/scan.h), and how soon. */
#include "../../suite.h"
#include "trace/scan.h"

#define NEVER 100000
#define SOON 8 /* calls that are found, until that is enough */
#define FEW 3
#define MANY 20

static struct reprise_scan scan;
static uint64_t state;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

static void setup(void)
{
	scan = (struct reprise_scan){0};
	state = 1;
	ck_assert_uint_eq(SOON, REPRISE_TUNE_SCAN_FOUND / REPRISE_TUNE_SCAN_AGAIN);
}

static struct reprise_scan_key kernel(unsigned int number, unsigned int grid)
{
	return reprise_scan_key_of_kernel((CUfunction)(uintptr_t)(0x1000 + 64 * number), grid, 1, 1,
	                                  128, 1, 1);
}

/* Calls until enough came before; NEVER. */
static unsigned int calls_until_found(struct reprise_scan_key (*call)(unsigned int number))
{
	unsigned int calls = 0;

	while (calls < NEVER && !reprise_scan_note(&scan, call(calls)))
		calls++;
	return calls;
}

static struct reprise_scan_key any_of_many(unsigned int number)
{
	return kernel(draw() % MANY, 1);
}

static struct reprise_scan_key any_of_few_with_any_grid(unsigned int number)
{
	return kernel(draw() % FEW, 1 + draw() % 1000);
}

START_TEST(nothing_is_found_where_calls_come_in_no_order)
{
	ck_assert_uint_eq(calls_until_found(any_of_many), NEVER);
	ck_assert_uint_eq(calls_until_found(any_of_few_with_any_grid), NEVER);
}
END_TEST

#define PERIOD 30

static struct reprise_scan_key loop(unsigned int number)
{
	return kernel(number % PERIOD, 1);
}

static struct reprise_scan_key loop_of_which_one_in_ten_changes(unsigned int number)
{
	return number % 10 == 0 ? kernel(1000 + draw(), 1) : loop(number);
}

static struct reprise_scan_key loop_with_other_grids(unsigned int number)
{
	return kernel(number % PERIOD, 1 + draw() % 1000);
}

static struct reprise_scan_key one_kernel_with_other_grids(unsigned int number)
{
	return kernel(1, 1 + draw() % 1000);
}

START_TEST(a_loop_is_found)
{
	ck_assert_uint_le(calls_until_found(loop), PERIOD + 4 + SOON);
}
END_TEST

START_TEST(a_loop_of_which_one_call_changes_is_found)
{
	ck_assert_uint_le(calls_until_found(loop_of_which_one_in_ten_changes), 3 * PERIOD);
}
END_TEST

/* A graph may have other grids each time. */
START_TEST(a_loop_with_other_grids_each_time_is_found)
{
	ck_assert_uint_le(calls_until_found(loop_with_other_grids), PERIOD + 16 + SOON);
}
END_TEST

/* Watching tells whether it is a loop. */
START_TEST(one_kernel_alone_is_found)
{
	ck_assert_uint_le(calls_until_found(one_kernel_with_other_grids), 1 + 16 + SOON);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scan");
	TCase *tests = tcase_create("scan");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, nothing_is_found_where_calls_come_in_no_order);
	tcase_add_test(tests, a_loop_is_found);
	tcase_add_test(tests, a_loop_of_which_one_call_changes_is_found);
	tcase_add_test(tests, a_loop_with_other_grids_each_time_is_found);
	tcase_add_test(tests, one_kernel_alone_is_found);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
