/* Whether Reprise takes part: pauses, errors that ruin a context, and a stop for good. Each issues
 * what is deferred. */
#include "../../suite.h"
#include "base/inside.h"
#include "graph/program_captures.h"
#include "lane/eager.h"
#include "program.h"

/* Two ops are deferred. */
static void setup(void)
{
	program_begins();
	learns("a b c |", "[a b c]");
	CALLS_ARE_SEEN_AS("a b", "");
	ck_assert(reprise_taking_part());
	ck_assert_ptr_null(reprise_stopped());
}

#define ISSUED "(a) (b)"

START_TEST(a_pause_issues_all_and_nests)
{
	reprise_pause_begin();
	IS_SEEN(ISSUED);
	ck_assert(!reprise_taking_part());
	ck_assert_int_eq(reprise_eager_counter(), REPRISE_COUNT_paused_ops);
	reprise_pause_begin();
	reprise_pause_end();
	ck_assert(!reprise_taking_part());
	reprise_pause_end();
	ck_assert(reprise_taking_part());
}
END_TEST

START_TEST(a_range_issues_all_of_the_thread_and_nests)
{
	reprise_range_begin();
	IS_SEEN(ISSUED);
	ck_assert(!reprise_taking_part());
	ck_assert(reprise_eager_by_range());
	reprise_range_begin();
	reprise_range_end();
	ck_assert(!reprise_taking_part());
	reprise_range_end();
	ck_assert(reprise_taking_part());
	ck_assert(!reprise_eager_by_range());
}
END_TEST

/* For those nothing is held in the whole process. */
START_TEST(a_range_is_not_the_reason_where_there_is_another)
{
	reprise_range_begin();
	reprise_pause_begin();
	ck_assert(!reprise_eager_by_range());
	ck_assert_int_eq(reprise_eager_counter(), REPRISE_COUNT_paused_ops);
	reprise_pause_end();
	ck_assert(reprise_eager_by_range());
	reprise_eager_turn_begin();
	ck_assert(reprise_eager_by_range());
	ck_assert(!reprise_eager_by_turn());
	reprise_range_end();
	ck_assert(reprise_eager_by_turn());
	reprise_eager_turn_end();
	reprise_range_begin();
	reprise_program_captures_begin(driver_stream(1), (CUcontext)1);
	ck_assert(!reprise_eager_by_range());
	reprise_stop("one reason");
	ck_assert(!reprise_eager_by_range());
}
END_TEST

START_TEST(an_end_without_a_beginning_does_nothing)
{
	reprise_pause_end();
	ck_assert_uint_eq(atomic_load(&reprise_pauses), 0);
	ck_assert(reprise_taking_part());
	reprise_pause_begin();
	ck_assert(!reprise_taking_part());
}
END_TEST

START_TEST(a_stop_issues_all_and_is_for_good)
{
	reprise_stop("one reason");
	IS_SEEN(ISSUED);
	ck_assert_str_eq(reprise_stopped(), "one reason");
	ck_assert(!reprise_taking_part());
	ck_assert_int_eq(reprise_eager_counter(), REPRISE_COUNT_eager_stopped);
	reprise_stop("another");
	ck_assert(!reprise_eager_stop("a third"));
	ck_assert_str_eq(reprise_stopped(), "one reason");
	reprise_pause_begin();
	reprise_pause_end();
	ck_assert(!reprise_taking_part());
	ck_assert_int_eq(reprise_eager_counter(), REPRISE_COUNT_eager_stopped);
}
END_TEST

START_TEST(a_stop_under_a_lock_issues_nothing)
{
	ck_assert(reprise_eager_stop("one reason"));
	IS_SEEN("");
	ck_assert(!reprise_taking_part());
}
END_TEST

START_TEST(a_forked_child_takes_part_again)
{
	reprise_stop("one reason");
	reprise_eager_reset();
	ck_assert_ptr_null(reprise_stopped());
	ck_assert(reprise_taking_part());
	ck_assert(reprise_eager_stop("another"));
	ck_assert_str_eq(reprise_stopped(), "another");
}
END_TEST

/* Inside Reprise a thread may hold a lock that issuing needs. */
START_TEST(inside_nothing_is_issued)
{
	reprise_inside++;
	ck_assert(!reprise_taking_part());
	reprise_pause_begin();
	reprise_stop("one reason");
	reprise_observe_result(CUDA_ERROR_LAUNCH_FAILED);
	reprise_inside--;
	IS_SEEN("");
}
END_TEST

START_TEST(inside_an_error_does_not_count)
{
	reprise_inside++;
	reprise_observe_result(CUDA_ERROR_LAUNCH_FAILED);
	reprise_inside--;
	ck_assert(reprise_taking_part());
}
END_TEST

START_TEST(while_the_program_captures_calls_are_eager)
{
	reprise_program_captures_begin(driver_stream(1), (CUcontext)1);
	ck_assert(!reprise_taking_part());
	ck_assert_int_eq(reprise_eager_counter(), REPRISE_COUNT_eager_capturing);
}
END_TEST

/* CUDA's documentation: "the context cannot be used (and must be destroyed)", "this leaves the
 * process in an inconsistent state", and a driver that is shutting down. */
static const struct {
	CUresult error;
	bool ruins;
} errors[] = {
	{CUDA_ERROR_ECC_UNCORRECTABLE, true},
	{CUDA_ERROR_ILLEGAL_ADDRESS, true},
	{CUDA_ERROR_LAUNCH_TIMEOUT, true},
	{CUDA_ERROR_CONTEXT_IS_DESTROYED, true},
	{CUDA_ERROR_ASSERT, true},
	{CUDA_ERROR_HARDWARE_STACK_ERROR, true},
	{CUDA_ERROR_ILLEGAL_INSTRUCTION, true},
	{CUDA_ERROR_MISALIGNED_ADDRESS, true},
	{CUDA_ERROR_INVALID_ADDRESS_SPACE, true},
	{CUDA_ERROR_INVALID_PC, true},
	{CUDA_ERROR_LAUNCH_FAILED, true},
	{CUDA_ERROR_EXTERNAL_DEVICE, true},
	{CUDA_ERROR_DEINITIALIZED, true},
	{CUDA_ERROR_UNKNOWN, true},
	{CUDA_SUCCESS, false},
	{CUDA_ERROR_NOT_READY, false},
	{CUDA_ERROR_INVALID_VALUE, false},
	{CUDA_ERROR_OUT_OF_MEMORY, false},
	{CUDA_ERROR_INVALID_CONTEXT, false},
	{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, false},
	{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, false},
};

START_TEST(an_error_that_ruins_the_context_stops_reprise)
{
	reprise_observe_result(errors[_i].error);
	IS_SEEN(errors[_i].ruins ? ISSUED : "");
	ck_assert_int_eq(reprise_taking_part(), !errors[_i].ruins);
	ck_assert_int_eq(reprise_stopped() != NULL, errors[_i].ruins);
	ck_assert(!reprise_eager_note_error(errors[_i].error)); /* it is stopped already, if at all */
}
END_TEST

START_TEST(the_first_that_notes_it_has_stopped_it)
{
	ck_assert_int_eq(reprise_eager_note_error(errors[_i].error), errors[_i].ruins);
	IS_SEEN("");
	ck_assert_int_eq(reprise_taking_part(), !errors[_i].ruins);
}
END_TEST

#define ERRORS (int)(sizeof(errors) / sizeof(errors[0]))

int main(void)
{
	Suite *suite = suite_create("lane, eager");
	TCase *tests = tcase_create("eager");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_pause_issues_all_and_nests);
	tcase_add_test(tests, a_range_issues_all_of_the_thread_and_nests);
	tcase_add_test(tests, a_range_is_not_the_reason_where_there_is_another);
	tcase_add_test(tests, an_end_without_a_beginning_does_nothing);
	tcase_add_test(tests, a_stop_issues_all_and_is_for_good);
	tcase_add_test(tests, a_stop_under_a_lock_issues_nothing);
	tcase_add_test(tests, a_forked_child_takes_part_again);
	tcase_add_test(tests, inside_nothing_is_issued);
	tcase_add_test(tests, inside_an_error_does_not_count);
	tcase_add_test(tests, while_the_program_captures_calls_are_eager);
	tcase_add_loop_test(tests, an_error_that_ruins_the_context_stops_reprise, 0, ERRORS);
	tcase_add_loop_test(tests, the_first_that_notes_it_has_stopped_it, 0, ERRORS);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
