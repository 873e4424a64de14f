/* While the gate is closed nobody goes through; who is going through keeps it open. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../../suite.h"
#include "../../../src/base/gate.h"

#define THREADS 20 /* more than there are places */
#define CLOSINGS 300
#define SECOND_NS 1000000000u
#define LONGEST_S 5 /* on a busy machine, twenty threads that never sleep are given turns of milliseconds: then some closings are enough */

static atomic_uint within, passed;
static atomic_bool ended;

static void *go_through(void *unused)
{
	(void)unused;
	while (!ended) {
		reprise_gate_enter();
		within++;
		passed++;
		within--;
		reprise_gate_leave();
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

		ck_assert(reprise_gate_close(10 * (uint64_t)SECOND_NS));
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
	reprise_gate_enter();
	ck_assert(!reprise_gate_close(1000000));
	reprise_gate_enter(); /* it is open again: this returns */
	reprise_gate_leave();
	reprise_gate_leave();
	ck_assert(reprise_gate_close(1000000));
	reprise_gate_open();
}
END_TEST

static void *end_within(void *unused)
{
	(void)unused;
	reprise_gate_enter();
	pthread_testcancel();
	reprise_gate_leave();
	return NULL;
}

START_TEST(who_was_cancelled_within_is_there_no_more)
{
	pthread_t thread;
	void *outcome;

	reprise_gate_close(SECOND_NS); /* so that it is not through before it is cancelled */
	ck_assert_int_eq(pthread_create(&thread, NULL, end_within, NULL), 0);
	pthread_cancel(thread);
	reprise_gate_open();
	pthread_join(thread, &outcome);
	ck_assert_ptr_eq(outcome, PTHREAD_CANCELED);
	ck_assert(reprise_gate_close(0));
	reprise_gate_open();
}
END_TEST

START_TEST(a_child_finds_it_open)
{
	reprise_gate_enter();
	reprise_gate_reset();
	ck_assert(reprise_gate_close(0));
	reprise_gate_reset();
	reprise_gate_enter();
	reprise_gate_leave();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gate");
	TCase *tests = tcase_create("gate");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, nobody_is_within_while_it_is_closed);
	tcase_add_test(tests, who_is_within_is_waited_for_so_long_and_no_longer);
	tcase_add_test(tests, who_was_cancelled_within_is_there_no_more);
	tcase_add_test(tests, a_child_finds_it_open);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
