/* What is asked of the driver about a handle that may be no function. */
#include "../../suite.h"
#include "driver/driver.h"
#include "op/function.h"

#define WITHOUT_PARAMETERS ((CUfunction)0x100)
#define WITH_ONE ((CUfunction)0x200)
#define NOTHING \
	((CUfunction)0x300) /* of which the driver says the same as of a function without parameters \
	                     */

#define OTHERS ((char *)0x1000) /* from here on each has a parameter of another size */

static unsigned int asked;

static CUresult get_param_info(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
	*offset = 0;
	*bytes = 8;
	asked++;
	if ((char *)function >= OTHERS && index == 0) {
		*bytes = (size_t)((char *)function - OTHERS) + 1;
		return CUDA_SUCCESS;
	}
	return function == WITH_ONE && index == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult get_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	(void)attribute;
	*value = 0;
	return function == NOTHING ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult get_kernels_function(CUfunction *function, CUkernel kernel)
{
	(void)function;
	(void)kernel;
	return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult get_kernels_param_info(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
	(void)kernel;
	(void)index;
	(void)offset;
	(void)bytes;
	return CUDA_ERROR_INVALID_VALUE;
}

static void setup(void)
{
	reprise_driver.cuFuncGetParamInfo = get_param_info;
	reprise_driver.cuFuncGetAttribute = get_attribute;
	reprise_driver.cuKernelGetFunction = get_kernels_function;
	reprise_driver.cuKernelGetParamInfo = get_kernels_param_info;
}

START_TEST(an_index_past_the_last_parameter_ends_them)
{
	ck_assert_uint_eq(reprise_function_of(WITH_ONE).layout->count, 1);
	ck_assert_uint_eq(reprise_function_of(WITHOUT_PARAMETERS).layout->count, 0);
}
END_TEST

START_TEST(what_is_no_function_is_none_without_parameters)
{
	ck_assert_ptr_null(reprise_function_of(NOTHING).layout);
	ck_assert(reprise_function_of(NOTHING).fixed_grid);
}
END_TEST

START_TEST(layouts_are_bounded_and_those_beyond_are_not_asked_for_again)
{
	unsigned int known = 0, before;
	CUfunction last = NULL;

	for (unsigned int i = 0; i < 10000; i++) {
		last = (CUfunction)(OTHERS + i);
		known += reprise_function_of(last).layout != NULL;
	}
	ck_assert_uint_ge(known, 1000);
	ck_assert_uint_le(known, 2000);
	before = asked;
	ck_assert_ptr_null(reprise_function_of(last).layout);
	ck_assert_uint_eq(asked, before);
	ck_assert_ptr_nonnull(reprise_function_of((CUfunction)OTHERS).layout);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("function");
	TCase *tests = tcase_create("function");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, an_index_past_the_last_parameter_ends_them);
	tcase_add_test(tests, what_is_no_function_is_none_without_parameters);
	tcase_add_test(tests, layouts_are_bounded_and_those_beyond_are_not_asked_for_again);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
