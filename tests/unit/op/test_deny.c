/* The deny list: which names it has. A handle is its name here, and the driver tells it. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/log.h"
#include "base/options.h"
#include "driver/driver.h"
#include "op/name.h"

static CUresult function_name(const char **name, CUfunction function)
{
	*name = (const char *)function;
	return CUDA_SUCCESS;
}

static CUresult kernel_name(const char **name, CUkernel kernel)
{
	*name = (const char *)kernel;
	return CUDA_SUCCESS;
}

static CUresult no_name(const char **name, CUfunction function)
{
	(void)name;
	(void)function;
	return CUDA_ERROR_INVALID_HANDLE;
}

static void setup(void)
{
	reprise_driver.cuFuncGetName = function_name;
	reprise_driver.cuKernelGetName = kernel_name;
}

static struct reprise_deny_texts texts;

static bool denied(const char *list, const char *name)
{
	setenv("REPRISE_DENY", list, 1);
	reprise_options_read();
	return reprise_denied(reprise_name_of((CUfunction)name, false), &texts);
}

#define REDUCE "_ZN8internal32multimem_one_shot_reduce_scatterIfEEvPT_m"

static const struct {
	const char *list, *name;
	bool denied;
} cases[] = {
	{"", "saxpy", false},
	{"saxpy", "saxpy", true},
	{"sax", "saxpy", false}, /* the whole name */
	{"axpy", "saxpy", false},
	{"nccl*", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true},
	{"nccl*,*reduce_scatter*", REDUCE, true},
	{"nccl*,*reduce_scatter*", "_Z5saxpyfPfS_", false},
	{"*reduce_scatter*,nccl*", REDUCE, true},
	{"_Z?saxpy*", "_Z5saxpyfPfS_", true},
	{"_Z[0-4]saxpy*", "_Z5saxpyfPfS_", false},
	{"_Z[5-9]saxpy*", "_Z5saxpyfPfS_", true},
	{"*s[a-b][w-y]py", "saxpy", true},
	{"\\saxpy", "saxpy", true},
	{"sa?py", "saxpy", true},
	{"sa?px", "saxpy", false},
	{"a,b,saxpy", "saxpy", true},
	{",,saxpy,", "saxpy", true},
	{",", "saxpy", false},
	{"[", "saxpy", false},
	{"*", "saxpy", true},
	{"saxpy*", "", false},
	/* In C++'s words: the whole name, or its last part. */
	{"saxpy", "_Z5saxpyfPfS_", true},
	{"sax", "_Z5saxpyfPfS_", false},
	{"axpy", "_Z5saxpyfPfS_", false},
	{"internal::multimem*", REDUCE, true},
	{"multimem_one_shot_reduce_scatter", REDUCE, true},
	{"internal", REDUCE, false},
	{"other::multimem_one_shot_reduce_scatter", REDUCE, false},
	{"void internal::multimem_one_shot_reduce_scatter<float>(float*, unsigned long)", REDUCE, true},
	{"internal::multimem_one_shot_reduce_scatter<double>", REDUCE, true}, /* all its instances */
	{"internal::multimem_one_shot<float>", REDUCE, false},
	{"at::native::(anonymous namespace)::fill", "_ZN2at6native12_GLOBAL__N_14fillIfEEvPT_i", true},
	{"(anonymous namespace)::fill(float*)", "_ZN12_GLOBAL__N_14fillEPf", true},
	{"(anonymous namespace)::fill", "_ZN5other4fillEPf", false},
	{"local", "_ZL5localPf", true},
	{"std::sort", "_ZSt4sortPf", true},
	{"std::detail::sort", "_ZNSt6detail4sortEPf", true},
	{"<", "_Z5saxpyfPfS_", false},
	{"(", "_Z5saxpyfPfS_", false},
	{"::", "_Z5saxpyfPfS_", false},
	/* Not mangled, or not as it should be. */
	{"saxpy", "_Z9saxpy", false},
	{"saxpy", "_Z99999999999999999999saxpy", false},
	{"saxpy", "_Z", false},
	{"saxpy", "_ZN", false},
	{"saxpy", "_ZN5saxpy", true},
	{"*", "_Z0", true},
};

START_TEST(a_name_is_denied_if_any_glob_matches_the_whole_of_it)
{
	ck_assert_msg(denied(cases[_i].list, cases[_i].name) == cases[_i].denied, "%s in %s",
	              cases[_i].name, cases[_i].list);
}
END_TEST

static const struct {
	const char *name;
	bool denied;
} by_default[] = {
	{"ncclDevKernel_Generic", true},
	{"_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE", true},
	{"_Z44ncclKernel_AllReduce_RING_LL_Sum_float", true},
	{"_ZN8nvshmemi17barrier_on_streamEv", true},
	{"_Z5saxpyfPfS_", false},
	{"", false},
};

START_TEST(unless_told_otherwise_kernels_that_wait_for_other_ranks_are_denied)
{
	unsetenv("REPRISE_DENY");
	reprise_options_read();
	ck_assert_int_eq(reprise_denied(by_default[_i].name, &texts), by_default[_i].denied);
	ck_assert(!denied("", by_default[_i].name));
}
END_TEST

START_TEST(kernels_are_asked_as_kernels)
{
	reprise_driver.cuFuncGetName = no_name;
	setenv("REPRISE_DENY", "sax*", 1);
	reprise_options_read();
	ck_assert(reprise_denied(reprise_name_of((CUfunction) "saxpy", true), &texts));
	ck_assert(!reprise_denied(reprise_name_of((CUfunction) "daxpy", true), &texts));
}
END_TEST

START_TEST(a_list_too_long_denies_nothing)
{
	char list[REPRISE_OPTION_TEXT_MOST + 1];

	for (size_t i = 0; i < sizeof(list) - 1; i++)
		list[i] = i % 2 == 0 ? '*' : ',';
	list[sizeof(list) - 1] = '\0';
	ck_assert(!denied(list, "saxpy"));
	list[sizeof(list) - 2] = '\0';
	ck_assert(denied(list, "saxpy"));
}
END_TEST

/* What a list that asks for it twice says on stderr. */
static size_t said(void)
{
	int pipes[2], before = dup(STDERR_FILENO);
	char text[1024];
	ssize_t length;

	ck_assert_int_eq(pipe2(pipes, O_NONBLOCK), 0);
	dup2(pipes[1], STDERR_FILENO);
	reprise_log_open(); /* as when the library is loaded */
	ck_assert(!denied("*", "saxpy"));
	ck_assert(!denied("*", "daxpy"));
	dup2(before, STDERR_FILENO);
	length = read(pipes[0], text, sizeof(text));

	size_t lines = 0;

	for (ssize_t i = 0; i < length; i++)
		lines += text[i] == '\n';
	return lines;
}

START_TEST(a_driver_without_names_is_told_of_once_and_nothing_is_denied)
{
	reprise_driver.cuFuncGetName = NULL;
	ck_assert_uint_eq(said(), 1);
}
END_TEST

START_TEST(a_name_that_the_driver_refuses_is_not_denied)
{
	reprise_driver.cuFuncGetName = no_name;
	ck_assert_uint_eq(said(), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("deny");
	TCase *tests = tcase_create("deny");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, unless_told_otherwise_kernels_that_wait_for_other_ranks_are_denied,
	                    0, sizeof(by_default) / sizeof(*by_default));
	tcase_add_loop_test(tests, a_name_is_denied_if_any_glob_matches_the_whole_of_it, 0,
	                    sizeof(cases) / sizeof(*cases));
	tcase_add_test(tests, kernels_are_asked_as_kernels);
	tcase_add_test(tests, a_list_too_long_denies_nothing);
	tcase_add_test(tests, a_driver_without_names_is_told_of_once_and_nothing_is_denied);
	tcase_add_test(tests, a_name_that_the_driver_refuses_is_not_denied);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
