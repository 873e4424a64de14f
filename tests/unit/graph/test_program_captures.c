/* The program's captures: each is counted from its begin to its end, by stream, by context and by
 * thread. */
#include <pthread.h>

#include "../../suite.h"
#include "base/ending.h"
#include "graph/program_captures.h"

#define STREAM(number) ((CUstream)(uintptr_t)(0x1000 * (number)))
#define HERE ((CUcontext)0x100)
#define ELSEWHERE ((CUcontext)0x200)
#define MOST 64 /* streams that are noted */

static void begins(CUstream stream, CUcontext context)
{
	ck_assert(reprise_program_captures_begin(stream, context));
}

static void are_under_way(uint32_t count)
{
	ck_assert_uint_eq(atomic_load(&reprise_program_captures), count);
	ck_assert_int_eq(reprise_program_captures_any(), count > 0);
}

START_TEST(each_ends_by_itself)
{
	are_under_way(0);
	begins(STREAM(1), HERE);
	begins(STREAM(2), HERE);
	are_under_way(2);
	reprise_program_captures_end(STREAM(3), HERE);
	are_under_way(2);
	reprise_program_captures_end(STREAM(1), HERE);
	are_under_way(1);
	reprise_program_captures_end(STREAM(1), HERE);
	are_under_way(1);
	reprise_program_captures_end(STREAM(2), HERE);
	are_under_way(0);
}
END_TEST

/* The second is about to be refused while the first goes on. */
START_TEST(a_second_on_one_stream_is_counted)
{
	begins(STREAM(1), HERE);
	begins(STREAM(1), HERE);
	begins(STREAM(1), HERE);
	are_under_way(3);
	reprise_program_captures_end(STREAM(1), HERE);
	are_under_way(2);
	reprise_program_captures_end_all(STREAM(1), HERE);
	are_under_way(0);
}
END_TEST

/* The handle of a created stream is one stream's in all contexts, that of a default stream is
 * not. */
static const struct {
	CUstream stream;
	bool ends;
} elsewhere[] = {{STREAM(1), true}, {CU_STREAM_LEGACY, false}, {CU_STREAM_PER_THREAD, false}};

START_TEST(default_streams_are_of_one_context)
{
	begins(elsewhere[_i].stream, HERE);
	reprise_program_captures_end(elsewhere[_i].stream, ELSEWHERE);
	are_under_way(elsewhere[_i].ends ? 0 : 1);
	reprise_program_captures_end(elsewhere[_i].stream, HERE);
	are_under_way(0);
}
END_TEST

START_TEST(a_context_ends_with_its_captures)
{
	begins(STREAM(1), HERE);
	begins(CU_STREAM_LEGACY, HERE);
	begins(STREAM(2), ELSEWHERE);
	begins(STREAM(3), HERE);
	begins(STREAM(3), HERE);
	reprise_program_captures_end_all(NULL, HERE);
	are_under_way(1);
	reprise_program_captures_end(STREAM(2), HERE);
	are_under_way(0);
}
END_TEST

START_TEST(a_stream_ends_with_its_capture_and_no_others)
{
	begins(STREAM(1), HERE);
	begins(STREAM(2), HERE);
	reprise_program_captures_end_all(STREAM(2), ELSEWHERE);
	are_under_way(1);
	reprise_program_captures_end(STREAM(1), HERE);
	are_under_way(0);
}
END_TEST

static void *captures_on_its_own_stream(void *thread)
{
	begins(CU_STREAM_PER_THREAD, HERE);
	*(uint32_t *)thread = reprise_thread_self();
	return NULL;
}

START_TEST(a_threads_own_stream_is_its_own)
{
	uint32_t other;
	pthread_t thread;

	begins(CU_STREAM_PER_THREAD, HERE);
	begins(STREAM(1), HERE);
	ck_assert_int_eq(pthread_create(&thread, NULL, captures_on_its_own_stream, &other), 0);
	pthread_join(thread, NULL);
	are_under_way(3);
	reprise_program_captures_end(CU_STREAM_PER_THREAD, HERE);
	are_under_way(2);
	reprise_program_captures_end(CU_STREAM_PER_THREAD, HERE);
	are_under_way(2);
	reprise_program_captures_thread_ended(other);
	are_under_way(1);
	reprise_program_captures_thread_ended(reprise_thread_self());
	are_under_way(1);
}
END_TEST

START_TEST(so_many_are_noted)
{
	for (unsigned int i = 1; i <= MOST; i++)
		begins(STREAM(i), HERE);
	ck_assert(!reprise_program_captures_begin(STREAM(MOST + 1), HERE));
	reprise_program_captures_end(STREAM(MOST + 1), HERE);
	are_under_way(MOST);
	begins(STREAM(1), HERE);
	are_under_way(MOST + 1);
	for (unsigned int i = MOST; i > 1; i--)
		reprise_program_captures_end(STREAM(i), HERE);
	are_under_way(2);
	begins(STREAM(MOST + 1), HERE);
	are_under_way(3);
}
END_TEST

START_TEST(a_forked_child_has_none)
{
	begins(STREAM(1), HERE);
	reprise_program_captures_reset();
	are_under_way(0);
	reprise_program_captures_end(STREAM(1), HERE);
	are_under_way(0);
	begins(STREAM(1), HERE);
	are_under_way(1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("program captures");
	TCase *tests = tcase_create("program captures");

	tcase_add_test(tests, each_ends_by_itself);
	tcase_add_test(tests, a_second_on_one_stream_is_counted);
	tcase_add_loop_test(tests, default_streams_are_of_one_context, 0,
	                    sizeof(elsewhere) / sizeof(elsewhere[0]));
	tcase_add_test(tests, a_context_ends_with_its_captures);
	tcase_add_test(tests, a_stream_ends_with_its_capture_and_no_others);
	tcase_add_test(tests, a_threads_own_stream_is_its_own);
	tcase_add_test(tests, so_many_are_noted);
	tcase_add_test(tests, a_forked_child_has_none);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
