/* What is asked of the driver about a handle, and what is kept of it: a function, a kernel, or
 * neither. */
#include <string.h>

#include "../../suite.h"
#include "base/changes.h"
#include "base/options.h"
#include "driver/driver.h"
#include "op/function.h"

#define WITHOUT_PARAMETERS ((CUfunction)0x100)
#define WITH_ONE ((CUfunction)0x200)
#define NOTHING \
	((CUfunction)0x300) /* of which the driver says the same as of a function without parameters \
	                     */
#define KERNEL ((CUfunction)0x400)         /* no function: a kernel, with one parameter */
#define KERNEL_WITHOUT ((CUfunction)0x500) /* a kernel without parameters */
#define OF_KERNEL ((CUfunction)0x600)      /* its function */

#define OTHERS ((char *)0x1000) /* from here on each has a parameter of another size */

#define CONTEXT(number) ((CUcontext)(uintptr_t)(0x100 * (number)))

static unsigned int asked;

/* The parameters of WITH_ONE, or more. */
static struct reprise_param params[REPRISE_PARAMS_MOST + 1];
static size_t param_count;

static bool is_kernel(CUfunction handle)
{
	return handle == KERNEL || handle == KERNEL_WITHOUT;
}

static CUresult CUDAAPI get_param_info(CUfunction function, size_t index, size_t *offset,
                                       size_t *bytes)
{
	*offset = 0;
	*bytes = 8;
	asked++;
	if ((char *)function >= OTHERS && index == 0) {
		*bytes = (size_t)((char *)function - OTHERS) + 1;
		return CUDA_SUCCESS;
	}
	if (is_kernel(function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (function != WITH_ONE || index >= param_count)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = params[index].offset;
	*bytes = params[index].size;
	return CUDA_SUCCESS;
}

/* An attribute that is not 0, and one that the driver does not know. */
static int special, unknown;

static CUresult CUDAAPI get_attribute(int *value, CUfunction_attribute attribute,
                                      CUfunction function)
{
	*value = (int)attribute == special;
	if (is_kernel(function) || function == NOTHING)
		return CUDA_ERROR_INVALID_HANDLE;
	return (int)attribute == unknown ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult CUDAAPI get_kernels_function(CUfunction *function, CUkernel kernel)
{
	*function = OF_KERNEL;
	return is_kernel((CUfunction)kernel) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult CUDAAPI get_kernels_param_info(CUkernel kernel, size_t index, size_t *offset,
                                               size_t *bytes)
{
	*offset = 0;
	*bytes = 16;
	return (CUfunction)kernel == KERNEL && index == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Modules and libraries: whether each has the variable of the device runtime. */
static bool module_launches, library_launches;

static CUresult CUDAAPI get_module(CUmodule *module, CUfunction function)
{
	*module = (CUmodule)0x1;
	return is_kernel(function) ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult CUDAAPI get_module_variable(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                            const char *name)
{
	*address = *bytes = 4;
	ck_assert_ptr_eq(module, (CUmodule)0x1);
	ck_assert_str_eq(name, "__CNPRT_VERSION_NUMBER__");
	return module_launches ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult CUDAAPI get_library(CUlibrary *library, CUkernel kernel)
{
	*library = (CUlibrary)0x2;
	return is_kernel((CUfunction)kernel) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult CUDAAPI get_library_variable(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                             const char *name)
{
	*address = *bytes = 4;
	ck_assert_ptr_eq(library, (CUlibrary)0x2);
	ck_assert_str_eq(name, "__CNPRT_VERSION_NUMBER__");
	return library_launches ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult CUDAAPI refuse_module(CUmodule *module, CUfunction function)
{
	return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult CUDAAPI refuse_library(CUlibrary *library, CUkernel kernel)
{
	return CUDA_ERROR_INVALID_HANDLE;
}

static void setup(void)
{
	reprise_driver.cuFuncGetParamInfo = get_param_info;
	reprise_driver.cuFuncGetAttribute = get_attribute;
	reprise_driver.cuFuncGetModule = get_module;
	reprise_driver.cuModuleGetGlobal_v2 = get_module_variable;
	reprise_driver.cuKernelGetFunction = get_kernels_function;
	reprise_driver.cuKernelGetParamInfo = get_kernels_param_info;
	reprise_driver.cuKernelGetLibrary = get_library;
	reprise_driver.cuLibraryGetGlobal = get_library_variable;
	param_count = 1;
	params[0] = (struct reprise_param){0, 8};
}

static void functions_change(void)
{
	reprise_changes_begin(REPRISE_CHANGES_FUNCTIONS);
	reprise_changes_end(REPRISE_CHANGES_FUNCTIONS);
}

/* ---- parameters ---- */

START_TEST(an_index_past_the_last_parameter_ends_them)
{
	ck_assert_uint_eq(reprise_function_of(WITH_ONE).layout->count, 1);
	ck_assert_uint_eq(reprise_function_of(WITHOUT_PARAMETERS).layout->count, 0);
	ck_assert_uint_eq(reprise_function_of(WITHOUT_PARAMETERS).layout->bytes, 0);
}
END_TEST

START_TEST(what_is_no_function_is_none_without_parameters)
{
	ck_assert_ptr_null(reprise_function_of(NOTHING).layout);
	ck_assert(reprise_function_of(NOTHING).fixed_grid);
	ck_assert_int_eq(reprise_function_of(NOTHING).launching, REPRISE_LAUNCHING_NEVER);
}
END_TEST

START_TEST(each_parameter_is_where_the_driver_says)
{
	const struct reprise_layout *layout;

	param_count = 3;
	params[1] = (struct reprise_param){16, 4};
	params[2] = (struct reprise_param){20, 100};
	layout = reprise_function_of(WITH_ONE).layout;
	ck_assert_uint_eq(layout->count, 3);
	ck_assert_uint_eq(layout->bytes, 120);
	ck_assert_int_eq(memcmp(layout->params, params, 3 * sizeof(params[0])), 0);
}
END_TEST

/* Kernels with equal parameters have one layout; a difference in any of them makes another. */
START_TEST(equal_layouts_are_one)
{
	const struct reprise_layout *first = reprise_function_of(WITH_ONE).layout;

	functions_change();
	ck_assert_ptr_eq(reprise_function_of(WITH_ONE).layout, first);
	functions_change();
	params[0].size = 4;
	ck_assert_ptr_ne(reprise_function_of(WITH_ONE).layout, first);
	functions_change();
	params[0] = (struct reprise_param){8, 8};
	ck_assert_ptr_ne(reprise_function_of(WITH_ONE).layout, first);
	functions_change();
	params[0] = (struct reprise_param){0, 8};
	params[1] = (struct reprise_param){8, 8};
	param_count = 2;
	ck_assert_ptr_ne(reprise_function_of(WITH_ONE).layout, first);
	functions_change();
	param_count = 1;
	ck_assert_ptr_eq(reprise_function_of(WITH_ONE).layout, first);
}
END_TEST

START_TEST(more_parameters_than_there_is_room_for_are_not_known)
{
	for (uint32_t i = 0; i <= REPRISE_PARAMS_MOST; i++)
		params[i] = (struct reprise_param){4 * i, 4};
	param_count = REPRISE_PARAMS_MOST;
	ck_assert_uint_eq(reprise_function_of(WITH_ONE).layout->count, REPRISE_PARAMS_MOST);
	functions_change();
	param_count++;
	ck_assert_ptr_null(reprise_function_of(WITH_ONE).layout);
	ck_assert(reprise_function_of(WITH_ONE).fixed_grid);
}
END_TEST

START_TEST(kernels_are_asked_as_kernels)
{
	ck_assert_uint_eq(reprise_function_of(KERNEL).layout->count, 1);
	ck_assert_uint_eq(reprise_function_of(KERNEL).layout->bytes, 16);
	ck_assert_uint_eq(reprise_function_of(KERNEL_WITHOUT).layout->count, 0);
	ck_assert(!reprise_function_of(KERNEL).fixed_grid);
	functions_change();
	reprise_driver.cuKernelGetParamInfo = NULL;
	ck_assert_ptr_null(reprise_function_of(KERNEL).layout);
	ck_assert_ptr_nonnull(reprise_function_of(WITH_ONE).layout);
}
END_TEST

START_TEST(without_a_kernels_function_little_is_known_of_it)
{
	reprise_driver.cuKernelGetFunction = NULL;
	ck_assert_uint_eq(reprise_function_of(KERNEL).layout->count, 1);
	ck_assert(reprise_function_of(KERNEL).fixed_grid);
	ck_assert_ptr_null(reprise_function_of(KERNEL_WITHOUT).layout);
}
END_TEST

START_TEST(a_driver_that_does_not_tell_parameters_is_not_asked)
{
	reprise_driver.cuFuncGetParamInfo = NULL;
	ck_assert_ptr_null(reprise_function_of(WITH_ONE).layout);
	ck_assert(reprise_function_of(WITH_ONE).fixed_grid);
	ck_assert_int_eq(reprise_function_of(WITH_ONE).launching, REPRISE_LAUNCHING_NEVER);
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

/* ---- grids ---- */

static const struct {
	int special, unknown;
	bool fixed;
} grids[] = {
	{0, 0, false},
	{CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 0, true},
	{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 0, true},
	{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 0, true},
	{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 0, true},
	{CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0, false},
	/* A driver without clusters. */
	{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, false},
	{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, true},
};

START_TEST(clusters_fix_the_grid)
{
	special = grids[_i].special;
	unknown = grids[_i].unknown;
	ck_assert_int_eq(reprise_function_of(WITH_ONE).fixed_grid, grids[_i].fixed);
	ck_assert_int_eq(reprise_function_of(KERNEL).fixed_grid, grids[_i].fixed);
}
END_TEST

/* ---- kernels that launch kernels ---- */

static void lacks(void *function)
{
	*(void **)function = NULL;
}

#define LACKS(name) (&reprise_driver.name)

/* What the driver lacks, and whose code has the variable. */
static const struct {
	void *lacks[2];
	bool module, library, function_launches, kernel_launches;
} launching[] = {
	{{NULL}, false, false, false, false},
	{{NULL}, true, false, true, false},
	{{NULL}, false, true, false, true},
	{{NULL}, true, true, true, true},
	{{LACKS(cuFuncGetModule)}, false, false, true, false},
	{{LACKS(cuModuleGetGlobal_v2)}, false, false, true, false},
	{{LACKS(cuKernelGetLibrary)}, false, true, false, false},
	{{LACKS(cuKernelGetLibrary)}, true, false, true, true},
	{{LACKS(cuLibraryGetGlobal)}, false, true, false, false},
	{{LACKS(cuLibraryGetGlobal)}, true, false, true, true},
	{{LACKS(cuLibraryGetGlobal), LACKS(cuKernelGetFunction)}, false, false, false, true},
	{{LACKS(cuLibraryGetGlobal), LACKS(cuFuncGetModule)}, false, false, true, true},
	{{LACKS(cuKernelGetFunction)}, false, false, false, false},
};

START_TEST(what_may_launch_is_told_by_its_code)
{
	for (unsigned int i = 0; i < 2; i++)
		if (launching[_i].lacks[i] != NULL)
			lacks(launching[_i].lacks[i]);
	module_launches = launching[_i].module;
	library_launches = launching[_i].library;
	ck_assert_int_eq(reprise_function_of(WITH_ONE).launching, launching[_i].function_launches
	                                                              ? REPRISE_LAUNCHING_ALWAYS
	                                                              : REPRISE_LAUNCHING_NEVER);
	ck_assert_int_eq(reprise_function_of(KERNEL).launching, launching[_i].kernel_launches
	                                                            ? REPRISE_LAUNCHING_ALWAYS
	                                                            : REPRISE_LAUNCHING_NEVER);
}
END_TEST

START_TEST(code_that_the_driver_does_not_name_launches_nothing)
{
	module_launches = library_launches = true;
	reprise_driver.cuFuncGetModule = refuse_module;
	reprise_driver.cuKernelGetLibrary = refuse_library;
	ck_assert_int_eq(reprise_function_of(WITH_ONE).launching, REPRISE_LAUNCHING_NEVER);
	ck_assert_int_eq(reprise_function_of(KERNEL).launching, REPRISE_LAUNCHING_NEVER);
}
END_TEST

static int driver_version;

static CUresult CUDAAPI get_version(int *version)
{
	*version = driver_version;
	return CUDA_SUCCESS;
}

START_TEST(a_driver_that_was_measured_is_asked_what_linked_code_launches)
{
	module_launches = library_launches = true;
	reprise_driver.cuDriverGetVersion = get_version;
	driver_version = _i ? 13000 : 12090;
	ck_assert_int_eq(reprise_function_of(WITH_ONE).launching,
	                 _i ? REPRISE_LAUNCHING_MAYBE : REPRISE_LAUNCHING_ALWAYS);
	ck_assert_int_eq(reprise_function_of(KERNEL).launching,
	                 _i ? REPRISE_LAUNCHING_MAYBE : REPRISE_LAUNCHING_ALWAYS);
}
END_TEST

START_TEST(what_the_driver_has_told_is_kept)
{
	module_launches = true;
	reprise_driver.cuDriverGetVersion = get_version;
	driver_version = 13000;
	reprise_function_of(WITH_ONE);
	reprise_function_note_launching(WITH_ONE, REPRISE_LAUNCHING_NEVER);
	ck_assert_int_eq(reprise_function_of(WITH_ONE).launching, REPRISE_LAUNCHING_NEVER);
	reprise_function_note_launching(WITH_ONE, REPRISE_LAUNCHING_ALWAYS);
	ck_assert_int_eq(reprise_function_of(WITH_ONE).launching, REPRISE_LAUNCHING_ALWAYS);
}
END_TEST

START_TEST(in_observe_nobody_would_ask)
{
	module_launches = true;
	reprise_driver.cuDriverGetVersion = get_version;
	driver_version = 13000;
	setenv("REPRISE", "observe", 1);
	reprise_options_read();
	ck_assert_int_eq(reprise_function_of(WITH_ONE).launching, REPRISE_LAUNCHING_ALWAYS);
}
END_TEST

/* ---- what is kept ---- */

START_TEST(the_driver_is_asked_once)
{
	unsigned int before;

	reprise_function_of(WITH_ONE);
	reprise_function_of(NOTHING);
	before = asked;
	ck_assert_uint_eq(reprise_function_of(WITH_ONE).layout->count, 1);
	ck_assert_ptr_null(reprise_function_of(NOTHING).layout);
	ck_assert_uint_eq(asked, before);
	functions_change();
	reprise_function_of(WITH_ONE);
	ck_assert_uint_gt(asked, before);
}
END_TEST

START_TEST(while_functions_change_nothing_is_kept)
{
	unsigned int before;

	reprise_changes_begin(REPRISE_CHANGES_FUNCTIONS);
	ck_assert_uint_eq(reprise_function_of(WITH_ONE).layout->count, 1);
	reprise_function_note(WITH_ONE, CONTEXT(1), REPRISE_FUNCTION_LAUNCH);
	ck_assert(!reprise_function_had(WITH_ONE, CONTEXT(1), REPRISE_FUNCTION_LAUNCH));
	before = asked;
	reprise_function_of(WITH_ONE);
	ck_assert_uint_gt(asked, before);
	reprise_changes_end(REPRISE_CHANGES_FUNCTIONS);
	before = asked;
	reprise_function_of(WITH_ONE);
	ck_assert_uint_gt(asked, before);
}
END_TEST

/* Handles fall out of the table, and none is taken for another. */
START_TEST(any_number_of_handles_are_told_apart)
{
	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int i = 0; i < 900; i++)
			for (unsigned int far = 0; far < 10; far++)
				reprise_function_note((CUfunction)(OTHERS + 900 * far + i), CONTEXT(1 + far % 2),
				                      REPRISE_FUNCTION_LAUNCH);
	for (unsigned int i = 0; i < 900; i++) {
		CUfunction function = (CUfunction)(OTHERS + i);

		ck_assert_uint_eq(reprise_function_of(function).layout->params[0].size, i + 1);
		ck_assert(!reprise_function_had(function, CONTEXT(2), REPRISE_FUNCTION_LAUNCH));
	}
}
END_TEST

/* As many as a row of the table has, wherever they are, stay. */
START_TEST(a_few_handles_stay)
{
	for (unsigned int i = 0; i < 4; i++)
		reprise_function_of((CUfunction)(OTHERS + i));
	asked = 0;
	for (unsigned int i = 0; i < 4; i++)
		reprise_function_of((CUfunction)(OTHERS + i));
	ck_assert_uint_eq(asked, 0);
}
END_TEST

/* ---- calls that may load ---- */

static const struct {
	enum reprise_function_call noted, asked;
	bool had;
} calls[] = {
	{REPRISE_FUNCTION_LAUNCH, REPRISE_FUNCTION_LAUNCH, true},
	{REPRISE_FUNCTION_LAUNCH, REPRISE_FUNCTION_ATTRIBUTE, true},
	{REPRISE_FUNCTION_LAUNCH, REPRISE_FUNCTION_CLUSTER_SIZE, true},
	{REPRISE_FUNCTION_GET, REPRISE_FUNCTION_GET, true},
	{REPRISE_FUNCTION_GET, REPRISE_FUNCTION_NAME, true},
	{REPRISE_FUNCTION_GET, REPRISE_FUNCTION_LAUNCH, false},
	{REPRISE_FUNCTION_ATTRIBUTE, REPRISE_FUNCTION_ATTRIBUTE, true},
	{REPRISE_FUNCTION_ATTRIBUTE, REPRISE_FUNCTION_SET, false},
	{REPRISE_FUNCTION_ATTRIBUTE, REPRISE_FUNCTION_LAUNCH, false},
	{REPRISE_FUNCTION_CLUSTER_SIZE, REPRISE_FUNCTION_CLUSTER_SIZE, true},
	{REPRISE_FUNCTION_CLUSTER_SIZE, REPRISE_FUNCTION_BLOCK_SIZE, false},
};

START_TEST(a_call_is_remembered_for_its_context)
{
	ck_assert(!reprise_function_had(WITH_ONE, CONTEXT(1), calls[_i].asked));
	reprise_function_note(WITH_ONE, CONTEXT(1), calls[_i].noted);
	ck_assert_int_eq(reprise_function_had(WITH_ONE, CONTEXT(1), calls[_i].asked), calls[_i].had);
	ck_assert(!reprise_function_had(WITH_ONE, CONTEXT(2), calls[_i].asked));
	ck_assert(!reprise_function_had(WITHOUT_PARAMETERS, CONTEXT(1), calls[_i].asked));
	functions_change();
	ck_assert(!reprise_function_had(WITH_ONE, CONTEXT(1), calls[_i].asked));
}
END_TEST

START_TEST(in_more_contexts_than_are_noted_it_counts_as_loaded)
{
	for (unsigned int context = 1; context <= 3; context++) {
		ck_assert(!reprise_function_had(WITH_ONE, CONTEXT(context), REPRISE_FUNCTION_LAUNCH));
		reprise_function_note(WITH_ONE, CONTEXT(context),
		                      context == 2 ? REPRISE_FUNCTION_NAME : REPRISE_FUNCTION_LAUNCH);
	}
	ck_assert(reprise_function_had(WITH_ONE, CONTEXT(4), REPRISE_FUNCTION_LAUNCH));
	reprise_function_note(WITH_ONE, CONTEXT(4), REPRISE_FUNCTION_LAUNCH);
	ck_assert(reprise_function_had(WITH_ONE, CONTEXT(1), REPRISE_FUNCTION_LAUNCH));
	ck_assert(!reprise_function_had(WITH_ONE, CONTEXT(2), REPRISE_FUNCTION_LAUNCH));
	ck_assert(reprise_function_had(WITH_ONE, CONTEXT(2), REPRISE_FUNCTION_NAME));
	ck_assert(!reprise_function_had(WITH_ONE, CONTEXT(2), REPRISE_FUNCTION_GET));
	ck_assert(reprise_function_had(WITH_ONE, CONTEXT(3), REPRISE_FUNCTION_LAUNCH));
}
END_TEST

/* What the driver answered and what the program called are kept side by side. */
START_TEST(calls_and_answers_are_of_one_entry)
{
	reprise_function_note(WITH_ONE, CONTEXT(1), REPRISE_FUNCTION_NAME);
	reprise_function_of(WITH_ONE);
	ck_assert(reprise_function_had(WITH_ONE, CONTEXT(1), REPRISE_FUNCTION_NAME));
	reprise_function_note(WITH_ONE, CONTEXT(1), REPRISE_FUNCTION_SET);
	ck_assert(reprise_function_had(WITH_ONE, CONTEXT(1), REPRISE_FUNCTION_NAME));
	asked = 0;
	reprise_function_of(WITH_ONE);
	ck_assert_uint_eq(asked, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("function");
	TCase *tests = tcase_create("function");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, an_index_past_the_last_parameter_ends_them);
	tcase_add_test(tests, what_is_no_function_is_none_without_parameters);
	tcase_add_test(tests, each_parameter_is_where_the_driver_says);
	tcase_add_test(tests, equal_layouts_are_one);
	tcase_add_test(tests, more_parameters_than_there_is_room_for_are_not_known);
	tcase_add_test(tests, kernels_are_asked_as_kernels);
	tcase_add_test(tests, without_a_kernels_function_little_is_known_of_it);
	tcase_add_test(tests, a_driver_that_does_not_tell_parameters_is_not_asked);
	tcase_add_test(tests, layouts_are_bounded_and_those_beyond_are_not_asked_for_again);
	tcase_add_loop_test(tests, clusters_fix_the_grid, 0, sizeof(grids) / sizeof(grids[0]));
	tcase_add_loop_test(tests, what_may_launch_is_told_by_its_code, 0,
	                    sizeof(launching) / sizeof(launching[0]));
	tcase_add_test(tests, code_that_the_driver_does_not_name_launches_nothing);
	tcase_add_loop_test(tests, a_driver_that_was_measured_is_asked_what_linked_code_launches, 0, 2);
	tcase_add_test(tests, what_the_driver_has_told_is_kept);
	tcase_add_test(tests, in_observe_nobody_would_ask);
	tcase_add_test(tests, the_driver_is_asked_once);
	tcase_add_test(tests, while_functions_change_nothing_is_kept);
	tcase_add_test(tests, any_number_of_handles_are_told_apart);
	tcase_add_test(tests, a_few_handles_stay);
	tcase_add_loop_test(tests, a_call_is_remembered_for_its_context, 0,
	                    sizeof(calls) / sizeof(calls[0]));
	tcase_add_test(tests, in_more_contexts_than_are_noted_it_counts_as_loaded);
	tcase_add_test(tests, calls_and_answers_are_of_one_entry);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
