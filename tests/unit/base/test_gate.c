/* While the gate is closed nobody goes through; who is going through keeps it open. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../../suite.h"
#include "base/gate.h"

#define THREADS 20
#define CLOSINGS 300
#define SECOND_NS 1000000000u
#define LONGEST_S \
	5 /* on a busy machine, twenty threads that never sleep are given turns of milliseconds: then \
	     some closings are enough */

static const char one, other; /* contexts */
static atomic_uint within, passed;
static uint64_t rest_ns;
static atomic_bool ended;

static void *go_through(void *unused)
{
	(void)unused;
	while (!ended) {
		reprise_gate_begin_giving(&one);
		within++;
		passed++;
		within--;
		reprise_gate_end_giving();
	}
	return NULL;
}

START_TEST(nobody_is_within_while_it_is_closed)
{
	pthread_t threads[THREADS];
	time_t begin = time(NULL);

	for (unsigned int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, go_through, NULL), 0);
	for (unsigned int i = 0; i < CLOSINGS && time(NULL) <= begin + LONGEST_S; i++) {
		unsigned int before;

		ck_assert(reprise_gate_close(&one, 10 * (uint64_t)SECOND_NS));
		before = passed;
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
		ck_assert_uint_eq(within, 0);
		ck_assert_uint_eq(passed, before);
		reprise_gate_open();
		while (passed == before)
			nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
	}
	ended = true;
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(who_is_within_is_waited_for_so_long_and_no_longer)
{
	reprise_gate_begin_giving(&one);
	ck_assert(!reprise_gate_close(&one, 1000000));
	reprise_gate_end_giving();
	reprise_gate_begin_giving(&one); /* it is open again: this returns */
	reprise_gate_end_giving();
	ck_assert(reprise_gate_close(&one, 1000000));
	reprise_gate_open();
}
END_TEST

static void *enter(void *context)
{
	reprise_gate_begin_giving(context);
	passed++;
	reprise_gate_end_giving();
	return NULL;
}

START_TEST(it_is_closed_to_one_context_and_to_who_may_mean_it)
{
	pthread_t same, any;

	reprise_gate_begin_giving(&other);
	ck_assert(reprise_gate_close(&one, 0));
	reprise_gate_end_giving();
	enter((void *)&other);
	ck_assert_uint_eq(passed, 1);
	ck_assert_int_eq(pthread_create(&same, NULL, enter, (void *)&one), 0);
	ck_assert_int_eq(pthread_create(&any, NULL, enter, NULL), 0);
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	ck_assert_uint_eq(passed, 1);
	reprise_gate_open();
	pthread_join(same, NULL);
	pthread_join(any, NULL);
	ck_assert_uint_eq(passed, 3);
	reprise_gate_begin_giving(NULL);
	ck_assert(!reprise_gate_close(&one, 0));
	reprise_gate_end_giving();
}
END_TEST

static void *end_within(void *unused)
{
	(void)unused;
	reprise_gate_begin_giving(&one);
	pthread_testcancel();
	reprise_gate_end_giving();
	return NULL;
}

static void *end_while_waiting(void *unused)
{
	(void)unused;
	reprise_gate_begin_waiting();
	pthread_exit(PTHREAD_CANCELED);
}

/* A thread that is cancelled in its call, or whose signal's handler ends it. */
START_TEST(who_ended_within_is_there_no_more)
{
	_Atomic uint32_t word = 0;
	pthread_t thread;
	void *outcome;

	reprise_gate_close(&one, SECOND_NS); /* so that it is not through before it is cancelled */
	ck_assert_int_eq(pthread_create(&thread, NULL, end_within, NULL), 0);
	pthread_cancel(thread);
	reprise_gate_open();
	pthread_join(thread, &outcome);
	ck_assert_ptr_eq(outcome, PTHREAD_CANCELED);
	ck_assert(reprise_gate_close(&one, 0));
	reprise_gate_open();
	ck_assert_int_eq(pthread_create(&thread, NULL, end_while_waiting, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert(reprise_gate_begin_work(&word, &rest_ns));
	reprise_gate_end_work();
}
END_TEST

static void *wait_once(void *unused)
{
	(void)unused;
	reprise_gate_begin_waiting();
	passed++;
	reprise_gate_end_waiting();
	return NULL;
}

START_TEST(no_call_waits_while_the_building_thread_works)
{
	_Atomic uint32_t word = 0;
	pthread_t thread;

	ck_assert(reprise_gate_begin_work(&word, &rest_ns));
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_once, NULL), 0);
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	ck_assert_uint_eq(passed, 0);
	reprise_gate_end_work();
	pthread_join(thread, NULL);
	ck_assert_uint_eq(passed, 1);
}
END_TEST

START_TEST(the_building_thread_works_when_the_last_call_has_waited)
{
	_Atomic uint32_t word = 0;
	uint32_t seen;

	reprise_gate_begin_waiting();
	reprise_gate_begin_waiting();
	ck_assert(!reprise_gate_begin_work(&word, &rest_ns));
	reprise_gate_end_waiting();
	ck_assert_uint_eq(word, 0);
	ck_assert(!reprise_gate_begin_work(&word, &rest_ns));
	ck_assert_uint_eq(rest_ns, 0); /* it is woken */
	reprise_gate_end_waiting();
	ck_assert_uint_gt(word, 0);
	seen = word;
	ck_assert(reprise_gate_begin_work(&word, &rest_ns));
	ck_assert_uint_gt(word, seen); /* another one may have slept on it */
	reprise_gate_end_work();
}
END_TEST

START_TEST(a_call_that_nobody_knows_is_doubted_until_the_next)
{
	_Atomic uint32_t word = 0;

	reprise_gate_doubt();
	ck_assert(!reprise_gate_begin_work(&word, &rest_ns));
	ck_assert_uint_gt(rest_ns, 0); /* nobody wakes it */
	ck_assert(!reprise_gate_close(&other, 0));
	reprise_gate_doubt_no_more();
	ck_assert(reprise_gate_begin_work(&word, &rest_ns));
	ck_assert(reprise_gate_close(&other, 0));
	reprise_gate_open();
	reprise_gate_end_work();
}
END_TEST

START_TEST(a_child_finds_it_open)
{
	_Atomic uint32_t word = 0;

	reprise_gate_begin_waiting();
	reprise_gate_begin_giving(&one);
	reprise_gate_reset();
	ck_assert(reprise_gate_begin_work(&word, &rest_ns));
	ck_assert(reprise_gate_close(&one, 0));
	reprise_gate_reset();
	reprise_gate_begin_giving(&one);
	reprise_gate_end_giving();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gate");
	TCase *tests = tcase_create("gate");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, nobody_is_within_while_it_is_closed);
	tcase_add_test(tests, who_is_within_is_waited_for_so_long_and_no_longer);
	tcase_add_test(tests, it_is_closed_to_one_context_and_to_who_may_mean_it);
	tcase_add_test(tests, who_ended_within_is_there_no_more);
	tcase_add_test(tests, no_call_waits_while_the_building_thread_works);
	tcase_add_test(tests, the_building_thread_works_when_the_last_call_has_waited);
	tcase_add_test(tests, a_call_that_nobody_knows_is_doubted_until_the_next);
	tcase_add_test(tests, a_child_finds_it_open);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
