/* Threads' own default streams: what the driver is given where another thread issues in a thread's
 * place, and until when the thread has to wait for that. */
#include "../../suite.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "driver/driver.h"
#include "lane/own_stream.h"
#include "lane/registry.h"
#include "lane/threads.h"
#include "program.h"

#define HERE ((CUcontext)1)
#define ELSEWHERE ((CUcontext)2)
#define PROXY ((CUstream)100)
#define PLACE ((CUevent)101)
#define DONE ((CUevent)102)

static char saw[256];        /* calls on the own stream, o, and on the proxy, p */
static unsigned int refused; /* calls that are refused from now on */
static unsigned int busy;    /* questions that are answered "not ready" from now on */
static unsigned int untold;  /* and before these, that the driver does not answer */
static unsigned int destroyed;

static CUresult note(const char *what, CUstream stream, CUevent event)
{
	if (refused > 0) {
		refused--;
		return CUDA_ERROR_UNKNOWN;
	}
	snprintf(saw + strlen(saw), sizeof(saw) - strlen(saw), "%s%s%s", stream == PROXY ? "p" : "o",
	         what,
	         event == PLACE  ? "place "
	         : event == DONE ? "done "
	                         : " ");
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI wait_event(CUstream stream, CUevent event, unsigned int flags)
{
	return note("<", stream, event);
}

static CUresult CUDAAPI record_event(CUevent event, CUstream stream)
{
	return note(">", stream, event);
}

static CUresult CUDAAPI synchronize(CUstream stream)
{
	return note("|", stream, NULL);
}

static CUresult ask(void)
{
	if (untold > 0) {
		untold--;
		return CUDA_ERROR_UNKNOWN;
	}
	if (busy == 0)
		return CUDA_SUCCESS;
	busy--;
	return CUDA_ERROR_NOT_READY;
}

static CUresult CUDAAPI query_stream(CUstream stream)
{
	return ask();
}

static CUresult CUDAAPI query_event(CUevent event)
{
	return ask();
}

static CUresult CUDAAPI destroy_stream(CUstream stream)
{
	destroyed += stream == PROXY;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI destroy_event(CUevent event)
{
	destroyed += event == PLACE || event == DONE;
	return CUDA_SUCCESS;
}

static struct reprise_lane *own;

static void give_proxy(struct reprise_lane *lane)
{
	lane->capture_streams.proxy = (struct reprise_proxy){PROXY, PLACE, DONE};
}

static void setup(void)
{
	program_begins();
	reprise_driver.cuStreamWaitEvent = wait_event;
	reprise_driver.cuEventRecord = record_event;
	reprise_driver.cuStreamSynchronize = synchronize;
	reprise_driver.cuStreamQuery = query_stream;
	reprise_driver.cuEventQuery = query_event;
	reprise_driver.cuStreamDestroy_v2 = destroy_stream;
	reprise_driver.cuEventDestroy_v2 = destroy_event;
	own = reprise_lanes_find_own(NULL, true);
	give_proxy(own);
}

#define SAW(expected) \
	do { \
		ck_assert_str_eq(saw, expected); \
		saw[0] = '\0'; \
	} while (0)

/* As another thread does: an op of the program's would come between. */
static void another_issues(struct reprise_lane *lane)
{
	ck_assert_ptr_eq(reprise_own_stream_begin_in_place(lane), PROXY);
	reprise_own_stream_end_in_place(lane);
	saw[0] = '\0';
}

START_TEST(what_others_issue_is_behind_the_place)
{
	uint32_t attention = atomic_load(&reprise_attention);

	ck_assert(reprise_own_stream_note_place(own));
	SAW("o>place ");
	ck_assert_ptr_eq(reprise_own_stream_begin_in_place(own), PROXY);
	SAW("p<place ");
	reprise_own_stream_end_in_place(own);
	SAW("p>done ");
	ck_assert_uint_eq(atomic_load(&reprise_unsettled), 1);
	ck_assert_uint_eq(atomic_load(&reprise_attention), attention + 1);
	ck_assert_uint_eq(count_of(REPRISE_COUNT_issued_in_place), 1);
	reprise_own_streams_settle(NULL, true);
	SAW("o<done ");
	ck_assert_uint_eq(atomic_load(&reprise_unsettled), 0);
	ck_assert_uint_eq(atomic_load(&reprise_attention), attention);
	reprise_own_streams_settle(CU_STREAM_PER_THREAD, false);
	SAW("");
}
END_TEST

static void *settles(void *unused)
{
	reprise_own_streams_settle(NULL, true);
	return unused;
}

START_TEST(a_lane_is_settled_by_a_call_of_its_thread_on_its_stream_in_its_context)
{
	pthread_t thread;

	another_issues(own);
	reprise_own_streams_settle(NULL, false);
	reprise_own_streams_settle(driver_stream(1), true);
	driver.current = ELSEWHERE;
	reprise_own_streams_settle(NULL, true);
	driver.current = HERE;
	ck_assert_int_eq(pthread_create(&thread, NULL, settles, NULL), 0);
	pthread_join(thread, NULL);
	SAW("");
	reprise_own_streams_settle(CU_STREAM_PER_THREAD, false);
	SAW("o<done ");
}
END_TEST

START_TEST(a_wait_gives_the_stream_nothing)
{
	reprise_own_streams_await(NULL, true);
	SAW("");
	another_issues(own);
	reprise_own_streams_await(NULL, true);
	SAW("p| ");
	reprise_own_streams_settle(NULL, true); /* what comes next is behind it all the same */
	SAW("o<done ");
}
END_TEST

START_TEST(a_question_gives_the_stream_nothing)
{
	busy = 1;
	ck_assert(reprise_own_streams_have_finished(NULL, true));
	another_issues(own);
	ck_assert(!reprise_own_streams_have_finished(NULL, true));
	ck_assert(reprise_own_streams_have_finished(NULL, true));
	untold = 1;
	ck_assert(reprise_own_streams_have_finished(NULL, true));
	SAW("");
	untold = 2;
	ck_assert(reprise_own_streams_have_finished(NULL, true));
	SAW("o<done ");
}
END_TEST

START_TEST(what_is_refused_once_is_asked_for_again)
{
	refused = 1;
	ck_assert_ptr_eq(reprise_own_stream_begin_in_place(own), PROXY);
	SAW("p<place ");
	refused = 1;
	reprise_own_stream_end_in_place(own);
	SAW("p>done ");
	refused = 1;
	reprise_own_streams_settle(NULL, true);
	SAW("o<done ");
}
END_TEST

START_TEST(what_is_refused_twice_the_host_waits_for)
{
	refused = 2;
	busy = 3;
	ck_assert_ptr_eq(reprise_own_stream_begin_in_place(own), PROXY);
	ck_assert_uint_eq(busy, 0);
	refused = 2;
	busy = 3;
	reprise_own_stream_end_in_place(own);
	ck_assert_uint_eq(busy, 0);
	SAW("");
	ck_assert_uint_eq(atomic_load(&reprise_unsettled), 0);
	another_issues(own);
	refused = 2;
	busy = 3;
	reprise_own_streams_settle(NULL, true);
	ck_assert_uint_eq(busy, 0);
	SAW("");
	ck_assert_uint_eq(atomic_load(&reprise_unsettled), 0);
}
END_TEST

START_TEST(where_the_proxy_cannot_be_waited_for_the_stream_waits)
{
	another_issues(own);
	refused = 1;
	reprise_own_streams_await(NULL, true);
	SAW("p| ");
	refused = 2;
	reprise_own_streams_await(NULL, true);
	SAW("o<done ");
	ck_assert_uint_eq(atomic_load(&reprise_unsettled), 0);
}
END_TEST

START_TEST(no_visit_begins_where_the_place_cannot_be_noted)
{
	refused = 1;
	ck_assert(!reprise_own_stream_note_place(own));
}
END_TEST

START_TEST(a_lane_may_end_when_nothing_is_left_to_wait_for)
{
	busy = 1;
	ck_assert(reprise_own_stream_may_end(own));
	another_issues(own);
	ck_assert(!reprise_own_stream_may_end(own));
	untold = 1;
	ck_assert(!reprise_own_stream_may_end(own));
	ck_assert_uint_eq(atomic_load(&reprise_unsettled), 1);
	ck_assert(reprise_own_stream_may_end(own));
	ck_assert_uint_eq(atomic_load(&reprise_unsettled), 0);
}
END_TEST

START_TEST(a_lane_that_was_given_up_keeps_the_proxy_until_it_is_settled)
{
	another_issues(own);
	reprise_lanes_retire(own);
	ck_assert_ptr_ne(reprise_lanes_find_own(NULL, true), own);
	ck_assert_ptr_ne(lane_of(3), own);
	reprise_own_streams_settle(NULL, true);
	SAW("o<done ");
	ck_assert_uint_eq(destroyed, 3);
	ck_assert_ptr_eq(lane_of(4), own);
}
END_TEST

static struct reprise_lane *left_lane;

static void *leaves(void *unused)
{
	left_lane = reprise_lanes_find_own(NULL, true);
	give_proxy(left_lane);
	another_issues(left_lane);
	return unused;
}

START_TEST(the_lane_of_an_ended_thread_stays_while_it_holds_or_its_proxy_works)
{
	pthread_t thread;
	bool left;

	ck_assert_int_eq(pthread_create(&thread, NULL, leaves, NULL), 0);
	pthread_join(thread, NULL);
	atomic_store(&left_lane->deferred_since, 1);
	ck_assert(!reprise_threads_clean_up(&left) && left);
	atomic_store(&left_lane->deferred_since, 0);
	busy = 1;
	ck_assert(!reprise_threads_clean_up(&left) && left);
	ck_assert(!atomic_load(&left_lane->retired));
	ck_assert_uint_eq(destroyed, 0);
	ck_assert(reprise_threads_clean_up(&left) && !left);
	ck_assert(atomic_load(&left_lane->retired));
	ck_assert_uint_eq(destroyed, 3);
	ck_assert_uint_eq(atomic_load(&reprise_unsettled), 0);
	ck_assert(!reprise_threads_clean_up(&left) && !left);
}
END_TEST

/* It was given up with a context that went on, and its thread has ended since. */
START_TEST(a_proxy_that_was_kept_for_an_ended_thread_is_given_up)
{
	pthread_t thread;
	bool left;

	ck_assert_int_eq(pthread_create(&thread, NULL, leaves, NULL), 0);
	pthread_join(thread, NULL);
	reprise_lanes_retire(left_lane);
	busy = 1;
	ck_assert(!reprise_threads_clean_up(&left) && left);
	ck_assert(reprise_threads_clean_up(&left) && !left);
	ck_assert_uint_eq(destroyed, 3);
	ck_assert_uint_eq(atomic_load(&reprise_unsettled), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lane, own streams");
	TCase *tests = tcase_create("own streams");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, what_others_issue_is_behind_the_place);
	tcase_add_test(tests, a_lane_is_settled_by_a_call_of_its_thread_on_its_stream_in_its_context);
	tcase_add_test(tests, a_wait_gives_the_stream_nothing);
	tcase_add_test(tests, a_question_gives_the_stream_nothing);
	tcase_add_test(tests, what_is_refused_once_is_asked_for_again);
	tcase_add_test(tests, what_is_refused_twice_the_host_waits_for);
	tcase_add_test(tests, where_the_proxy_cannot_be_waited_for_the_stream_waits);
	tcase_add_test(tests, no_visit_begins_where_the_place_cannot_be_noted);
	tcase_add_test(tests, a_lane_may_end_when_nothing_is_left_to_wait_for);
	tcase_add_test(tests, a_lane_that_was_given_up_keeps_the_proxy_until_it_is_settled);
	tcase_add_test(tests, the_lane_of_an_ended_thread_stays_while_it_holds_or_its_proxy_works);
	tcase_add_test(tests, a_proxy_that_was_kept_for_an_ended_thread_is_given_up);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
