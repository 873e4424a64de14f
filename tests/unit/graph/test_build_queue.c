/* Graphs that wait to be built. */
#include <stdlib.h>

#include "../../suite.h"
#include "graph/build_queue.h"

#define MANY 600

static struct reprise_graph graphs[MANY];

static int state_of(unsigned int i)
{
	return atomic_load(&graphs[i].state);
}

START_TEST(the_newest_is_built_first)
{
	for (unsigned int i = 0; i < 3; i++)
		reprise_build_queue_push(&graphs[i]);
	for (unsigned int i = 3; i-- > 0;)
		ck_assert_ptr_eq(reprise_build_queue_take(), &graphs[i]);
	ck_assert_ptr_null(reprise_build_queue_take());
	ck_assert_int_eq(state_of(0), REPRISE_GRAPH_QUEUED);
}
END_TEST

START_TEST(what_is_put_back_comes_last)
{
	static const unsigned int order[] = {3, 1, 0, 2};

	for (unsigned int i = 0; i < 3; i++)
		reprise_build_queue_push(&graphs[i]);
	ck_assert(reprise_build_queue_put_back(reprise_build_queue_take()));
	ck_assert_int_eq(state_of(2), REPRISE_GRAPH_QUEUED);
	reprise_build_queue_push(&graphs[3]);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_ptr_eq(reprise_build_queue_take(), &graphs[order[i]]);
	ck_assert_ptr_null(reprise_build_queue_take());
	ck_assert(reprise_build_queue_put_back(&graphs[0]));
	ck_assert_ptr_eq(reprise_build_queue_take(), &graphs[0]);
}
END_TEST

START_TEST(one_of_a_context_is_found_behind_others)
{
	static struct reprise_capture_streams here = {.context = (CUcontext)&here},
										  there = {.context = (CUcontext)&there};

	for (unsigned int i = 0; i < 4; i++) {
		graphs[i].capture_streams = i % 2 ? &there : &here;
		reprise_build_queue_push(&graphs[i]);
	}
	ck_assert_ptr_eq(reprise_build_queue_take_of(here.context), &graphs[2]);
	ck_assert_ptr_eq(reprise_build_queue_take_of(here.context), &graphs[0]);
	ck_assert_ptr_null(reprise_build_queue_take_of(here.context));
	ck_assert_ptr_eq(reprise_build_queue_take(), &graphs[3]);
	ck_assert_ptr_eq(reprise_build_queue_take_of(there.context), &graphs[1]);
	ck_assert_ptr_null(reprise_build_queue_take());
}
END_TEST

START_TEST(there_is_room_for_so_many)
{
	unsigned int in = 0;

	while (reprise_build_queue_has_room())
		ck_assert(reprise_build_queue_push(&graphs[in++]));
	ck_assert_uint_lt(in, MANY);
	ck_assert(!reprise_build_queue_push(&graphs[in]));
	ck_assert_int_eq(state_of(in), REPRISE_GRAPH_EMPTY);
	ck_assert_ptr_eq(reprise_build_queue_take(), &graphs[in - 1]);
	ck_assert(reprise_build_queue_push(&graphs[in]));
	ck_assert_ptr_eq(reprise_build_queue_take(), &graphs[in]);
}
END_TEST

START_TEST(any_can_be_taken_out)
{
	for (unsigned int i = 0; i < 3; i++)
		reprise_build_queue_push(&graphs[i]);
	reprise_build_queue_remove(&graphs[_i]);
	ck_assert_int_eq(state_of((unsigned int)_i), REPRISE_GRAPH_EMPTY);
	reprise_build_queue_remove(&graphs[_i]);
	for (int i = 3; i-- > 0;)
		if (i != _i)
			ck_assert_ptr_eq(reprise_build_queue_take(), &graphs[i]);
	ck_assert_ptr_null(reprise_build_queue_take());
}
END_TEST

START_TEST(what_is_in_work_counts_until_it_is_finished)
{
	for (unsigned int i = 0; i < 3; i++)
		reprise_build_queue_push(&graphs[i]);
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 3);
	reprise_build_queue_take();
	reprise_build_queue_put_back(reprise_build_queue_take());
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 3);
	reprise_build_queue_finish();
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 2);
	reprise_build_queue_remove(&graphs[0]);
	reprise_build_queue_remove(&graphs[0]);
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 1);
	reprise_build_queue_reset();
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 0);
}
END_TEST

/* Wherever it was taken from, it is nobody's to take out. */
START_TEST(what_is_in_work_is_not_taken_out)
{
	struct reprise_capture_streams streams[3];

	for (unsigned int i = 0; i < 3; i++) {
		streams[i].context = (CUcontext)(uintptr_t)(i + 1);
		graphs[i].capture_streams = &streams[i];
		reprise_build_queue_push(&graphs[i]);
	}
	ck_assert_ptr_eq(reprise_build_queue_take_of(streams[_i].context), &graphs[_i]);
	ck_assert(!reprise_build_queue_remove(&graphs[_i]));
	ck_assert_int_eq(state_of((unsigned int)_i), REPRISE_GRAPH_QUEUED);
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 3);
	atomic_store(&graphs[_i].state, REPRISE_GRAPH_READY);
	ck_assert(reprise_build_queue_remove(&graphs[_i]));
	ck_assert_int_eq(state_of((unsigned int)_i), REPRISE_GRAPH_READY);
	ck_assert_uint_eq(reprise_build_queue_unfinished(), 3);
}
END_TEST

START_TEST(what_finds_no_room_is_not_waited_for)
{
	unsigned int in = 0;

	while (reprise_build_queue_push(&graphs[in]))
		in++;
	ck_assert_uint_eq(reprise_build_queue_unfinished(), in);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("queue");
	TCase *tests = tcase_create("queue");

	tcase_add_test(tests, the_newest_is_built_first);
	tcase_add_test(tests, what_is_put_back_comes_last);
	tcase_add_test(tests, one_of_a_context_is_found_behind_others);
	tcase_add_test(tests, there_is_room_for_so_many);
	tcase_add_loop_test(tests, any_can_be_taken_out, 0, 3);
	tcase_add_test(tests, what_is_in_work_counts_until_it_is_finished);
	tcase_add_loop_test(tests, what_is_in_work_is_not_taken_out, 0, 3);
	tcase_add_test(tests, what_finds_no_room_is_not_waited_for);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
