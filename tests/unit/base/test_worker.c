/* Work is seen to however late the thread that asked for the worker gets to say that it is there.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../../suite.h"
#include "base/thread.h"
#include "base/worker.h"

#define DEADLINE_S 20

static void *work(void *unused);

static struct reprise_worker worker = {.run = work, .name = "worker"};
static atomic_uint wanted, done;
static atomic_bool starts_late; /* the starting thread comes back only when the new one sleeps */

/* In the place of the library's. */
bool reprise_thread_start(void *(*run)(void *), const char *name)
{
	time_t end = time(NULL) + DEADLINE_S;
	pthread_t thread;

	(void)name;
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return false;
	pthread_detach(thread);
	while (starts_late && atomic_load(&worker.state) != REPRISE_WORKER_ASLEEP && time(NULL) <= end)
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	return true;
}

static bool has_work(void)
{
	return wanted != done;
}

static void *work(void *unused)
{
	(void)unused;
	for (;;) {
		reprise_worker_sleep(&worker, has_work);
		if (reprise_worker_stopped(&worker))
			return NULL;
		atomic_store(&done, atomic_load(&wanted));
	}
}

static bool is_done(void)
{
	time_t end = time(NULL) + DEADLINE_S;

	while (wanted != done && time(NULL) <= end)
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	return wanted == done;
}

static void ask(void)
{
	wanted++;
	reprise_worker_wake(&worker);
	ck_assert(is_done());
}

START_TEST(work_is_seen_to)
{
	ck_assert(reprise_worker_ready(&worker));
	for (unsigned int i = 0; i < 1000; i++)
		ask();
}
END_TEST

START_TEST(a_thread_that_sleeps_before_its_starter_returns_is_woken)
{
	starts_late = true;
	ck_assert(reprise_worker_ready(&worker));
	for (unsigned int i = 0; i < 5; i++)
		ask();
}
END_TEST

START_TEST(a_child_starts_another)
{
	ck_assert(reprise_worker_ready(&worker));
	ask();
	reprise_worker_reset(&worker);
	ck_assert_uint_eq(worker.state, REPRISE_WORKER_ABSENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("worker");
	TCase *tests = tcase_create("worker");

	tcase_set_timeout(tests, 100);
	tcase_add_test(tests, work_is_seen_to);
	tcase_add_test(tests, a_thread_that_sleeps_before_its_starter_returns_is_woken);
	tcase_add_test(tests, a_child_starts_another);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
