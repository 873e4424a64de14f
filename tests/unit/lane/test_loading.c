/* Calls that may load a kernel: what is issued before them, what is remembered of them, and which
 * functions a setting is about. */
#include "../../suite.h"
#include "base/gate.h"
#include "base/inside.h"
#include "driver/driver.h"
#include "lane/loading.h"
#include "op/function.h"
#include "program.h"

#define HERE ((CUcontext)1)
#define KNOWN ((CUfunction)'a')
#define NEW ((CUfunction)'z')
#define OF_NEW ((CUfunction)0x4200)

static CUresult CUDAAPI function_of(CUfunction *function, CUkernel kernel)
{
	*function = OF_NEW;
	return CUDA_SUCCESS;
}

/* Two ops are deferred. */
static void setup(void)
{
	program_begins();
	reprise_driver.cuKernelGetFunction = function_of;
	learns("a b c |", "[a b c]");
	CALLS_ARE_SEEN_AS("a b", "");
}

static bool waits(void)
{
	return atomic_load(&reprise_gate_waiting) != 0;
}

START_TEST(what_may_load_waits_behind_what_is_deferred)
{
	ck_assert(reprise_loading_begins(NEW, REPRISE_FUNCTION_ATTRIBUTE));
	IS_SEEN("(a) (b)");
	ck_assert(waits());
	reprise_loading_ends(NEW, REPRISE_FUNCTION_ATTRIBUTE, true);
	ck_assert(!waits());
	ck_assert(reprise_function_had(NEW, HERE, REPRISE_FUNCTION_ATTRIBUTE));
	ck_assert(!reprise_loading_begins(NEW, REPRISE_FUNCTION_ATTRIBUTE)); /* it loads nothing */
	ck_assert(reprise_loading_begins(NEW, REPRISE_FUNCTION_NAME));
}
END_TEST

START_TEST(a_call_that_failed_may_load_the_next_time)
{
	ck_assert(reprise_loading_begins(NEW, REPRISE_FUNCTION_ATTRIBUTE));
	reprise_loading_ends(NEW, REPRISE_FUNCTION_ATTRIBUTE, false);
	ck_assert(!waits());
	ck_assert(!reprise_function_had(NEW, HERE, REPRISE_FUNCTION_ATTRIBUTE));
	ck_assert(reprise_loading_begins(NEW, REPRISE_FUNCTION_ATTRIBUTE));
}
END_TEST

START_TEST(what_is_loaded_passes)
{
	ck_assert(!reprise_loading_begins(KNOWN, REPRISE_FUNCTION_ATTRIBUTE));
	reprise_inside++;
	ck_assert(!reprise_loading_begins(NEW, REPRISE_FUNCTION_ATTRIBUTE));
	reprise_inside--;
	driver.current = NULL;
	ck_assert(!reprise_loading_begins(NEW, REPRISE_FUNCTION_ATTRIBUTE));
	driver.current = HERE;
	IS_SEEN("");
	ck_assert(!waits());
}
END_TEST

/* In another context it is another function. */
START_TEST(what_is_loaded_is_so_in_its_context)
{
	driver.current = (CUcontext)2;
	ck_assert(reprise_loading_begins(KNOWN, REPRISE_FUNCTION_ATTRIBUTE));
}
END_TEST

/* Where nothing is held, only a first launch is told of. */
static const struct {
	enum reprise_op_kind kind;
	CUfunction function;
	bool first, held, begins;
} launches[] = {
	{REPRISE_OP_KERNEL, NEW, true, true, true},    {REPRISE_OP_KERNEL, NEW, false, true, true},
	{REPRISE_OP_KERNEL, NEW, true, false, true},   {REPRISE_OP_KERNEL, NEW, false, false, false},
	{REPRISE_OP_KERNEL, KNOWN, true, true, false}, {REPRISE_OP_SET, NEW, true, true, false},
};

START_TEST(a_launch_may_load)
{
	struct reprise_call call = {.kind = launches[_i].kind};

	if (!launches[_i].held)
		calls("|");
	call.kernel.function = launches[_i].function;
	ck_assert_int_eq(reprise_loading_begins_launch(&call, launches[_i].first), launches[_i].begins);
	ck_assert_int_eq(waits(), launches[_i].begins);
}
END_TEST

/* ---- what is set ---- */

START_TEST(a_function_is_set_by_its_handle)
{
	struct reprise_function_set set = reprise_loading_set(NEW, false);

	ck_assert_ptr_eq(set.handle, NEW);
	ck_assert(!set.is_kernel);
	ck_assert_ptr_null(set.function);
	ck_assert_ptr_null(set.context);
	ck_assert(!set.nowhere);
}
END_TEST

/* The program has the kernel's function if it asked for it, or for a module. */
START_TEST(a_kernel_is_set_with_its_function_if_the_program_has_that)
{
	struct reprise_function_set set = reprise_loading_set(NEW, true);

	ck_assert(set.is_kernel);
	ck_assert_ptr_eq(set.context, HERE);
	ck_assert_ptr_null(set.function);
	ck_assert(set.nowhere);
	reprise_function_note(NEW, HERE, REPRISE_FUNCTION_GET);
	set = reprise_loading_set(NEW, true);
	ck_assert_ptr_eq(set.function, OF_NEW);
	ck_assert(!set.nowhere);
}
END_TEST

START_TEST(with_a_module_the_program_may_have_any_function)
{
	reprise_loading_note_module();
	ck_assert_ptr_null(reprise_loading_set(NEW, true).function);
	ck_assert(!reprise_loading_set(NEW, true).nowhere);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, loading");
	TCase *tests = tcase_create("loading");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, what_may_load_waits_behind_what_is_deferred);
	tcase_add_test(tests, a_call_that_failed_may_load_the_next_time);
	tcase_add_test(tests, what_is_loaded_passes);
	tcase_add_test(tests, what_is_loaded_is_so_in_its_context);
	tcase_add_loop_test(tests, a_launch_may_load, 0, sizeof(launches) / sizeof(launches[0]));
	tcase_add_test(tests, a_function_is_set_by_its_handle);
	tcase_add_test(tests, a_kernel_is_set_with_its_function_if_the_program_has_that);
	tcase_add_test(tests, with_a_module_the_program_may_have_any_function);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
