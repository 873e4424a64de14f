/* Whether a context is alone on its device: contexts that the program makes, is making and ends,
 * and the primary context. */
#include "../../suite.h"
#include "driver/driver.h"
#include "graph/neighbours.h"

#define CONTEXT(number) ((CUcontext)(uintptr_t)(0x100 * (number)))
#define MOST 64 /* contexts that are noted */

static CUcontext current;
static CUdevice device;
static int primary_active[2];
static CUresult device_answer, primary_answer;

static CUresult CUDAAPI get_current(CUcontext *context)
{
	*context = current;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_device(CUdevice *answer)
{
	*answer = device;
	return device_answer;
}

static CUresult CUDAAPI get_primary(CUdevice of, unsigned int *flags, int *active)
{
	*flags = 0;
	*active = primary_active[of];
	return primary_answer;
}

static void setup(void)
{
	reprise_driver.cuCtxGetCurrent = get_current;
	reprise_driver.cuCtxGetDevice = get_device;
	reprise_driver.cuDevicePrimaryCtxGetState = get_primary;
}

static void makes(unsigned int number, CUdevice on)
{
	int answer = reprise_neighbours_begin(on);

	current = CONTEXT(number);
	reprise_neighbours_made(answer, true);
}

START_TEST(the_only_one_is_alone)
{
	makes(1, 0);
	ck_assert(reprise_neighbours_none(CONTEXT(1)));
}
END_TEST

START_TEST(another_on_its_device_is_a_neighbour_until_it_ends)
{
	makes(1, 0);
	makes(2, 0);
	ck_assert(!reprise_neighbours_none(CONTEXT(1)));
	ck_assert(!reprise_neighbours_none(CONTEXT(2)));
	reprise_neighbours_ended(CONTEXT(3));
	ck_assert(!reprise_neighbours_none(CONTEXT(1)));
	reprise_neighbours_ended(CONTEXT(2));
	ck_assert(reprise_neighbours_none(CONTEXT(1)));
}
END_TEST

START_TEST(another_device_has_none)
{
	makes(1, 0);
	makes(2, 1);
	ck_assert(reprise_neighbours_none(CONTEXT(1)));
	device = 1;
	ck_assert(reprise_neighbours_none(CONTEXT(2)));
	ck_assert(!reprise_neighbours_none(CONTEXT(1))); /* 2 is on the device that is current */
}
END_TEST

/* Its device may not be noted yet. */
START_TEST(one_that_is_being_made_is_everywhere)
{
	int answer;

	makes(1, 0);
	answer = reprise_neighbours_begin(1);
	ck_assert(!reprise_neighbours_none(CONTEXT(1)));
	reprise_neighbours_made(answer, false);
	ck_assert(reprise_neighbours_none(CONTEXT(1)));
}
END_TEST

START_TEST(the_primary_context_is_a_neighbour_of_those_that_the_program_made)
{
	makes(1, 0);
	primary_active[1] = 1;
	ck_assert(reprise_neighbours_none(CONTEXT(1)));
	primary_active[0] = 1;
	ck_assert(!reprise_neighbours_none(CONTEXT(1)));
	reprise_neighbours_ended(CONTEXT(1));
	ck_assert(reprise_neighbours_none(CONTEXT(9))); /* it is the primary one itself */
	makes(2, 0);
	ck_assert(!reprise_neighbours_none(CONTEXT(9)));
}
END_TEST

START_TEST(what_the_driver_does_not_tell_may_be_a_neighbour)
{
	makes(1, 0);
	primary_answer = CUDA_ERROR_UNKNOWN;
	ck_assert(!reprise_neighbours_none(CONTEXT(1)));
	primary_answer = CUDA_SUCCESS;
	device_answer = CUDA_ERROR_UNKNOWN;
	ck_assert(!reprise_neighbours_none(CONTEXT(1)));
	device_answer = CUDA_SUCCESS;
	ck_assert(reprise_neighbours_none(CONTEXT(1)));
	reprise_driver.cuCtxGetDevice = NULL;
	ck_assert(!reprise_neighbours_none(CONTEXT(1)));
}
END_TEST

START_TEST(after_more_than_can_be_noted_none_is_alone)
{
	for (unsigned int i = 1; i <= MOST; i++)
		makes(i, i == 1 ? 0 : 1);
	ck_assert(reprise_neighbours_none(CONTEXT(1)));
	makes(MOST + 1, 1);
	ck_assert(!reprise_neighbours_none(CONTEXT(1)));
	for (unsigned int i = 2; i <= MOST + 1; i++)
		reprise_neighbours_ended(CONTEXT(i));
	ck_assert(!reprise_neighbours_none(CONTEXT(1)));
}
END_TEST

/* The place of one that has ended is another's. */
START_TEST(any_number_come_and_go)
{
	makes(1, 0);
	for (unsigned int i = 2; i <= 4 * MOST; i++) {
		makes(i, 0);
		ck_assert(!reprise_neighbours_none(CONTEXT(1)));
		reprise_neighbours_ended(CONTEXT(i));
		ck_assert(reprise_neighbours_none(CONTEXT(1)));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("neighbours");
	TCase *tests = tcase_create("neighbours");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, the_only_one_is_alone);
	tcase_add_test(tests, another_on_its_device_is_a_neighbour_until_it_ends);
	tcase_add_test(tests, another_device_has_none);
	tcase_add_test(tests, one_that_is_being_made_is_everywhere);
	tcase_add_test(tests, the_primary_context_is_a_neighbour_of_those_that_the_program_made);
	tcase_add_test(tests, what_the_driver_does_not_tell_may_be_a_neighbour);
	tcase_add_test(tests, after_more_than_can_be_noted_none_is_alone);
	tcase_add_test(tests, any_number_come_and_go);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
