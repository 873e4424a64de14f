#include "base/ending.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/lock.h"
#include "base/placement.h"
#include "base/thread.h"
#include "base/tuning.h"

#define DIRECTORIES 2 /* links of /proc/self/task beside those of tasks */

/* Set in the program's threads that have made a call. */
static pthread_key_t counted;
static _Atomic bool has_key;
/* The number of these threads. The watching thread sleeps on it. */
static _Atomic uint32_t living;
static _Atomic bool watched; /* the watching thread is there */
/* Of the thread that ended last. The program's exit handlers run with it. */
static sigset_t mask;

/* The first call of this thread. */
static void count_in(void)
{
	if (!atomic_load(&has_key) || !reprise_is_programs_thread() ||
	    pthread_getspecific(counted) != NULL || pthread_setspecific(counted, &counted) != 0)
		return;
	atomic_fetch_add(&living, 1);
}

_Thread_local uint32_t reprise_thread_number;

uint32_t reprise_thread_begin(void)
{
	static _Atomic uint32_t threads;

	reprise_thread_number = atomic_fetch_add(&threads, 1) + 1;
	count_in();
	return reprise_thread_number;
}

/* True if the main thread has ended and only waits for the others. It then has no executable file
 * any more. */
static bool main_has_ended(void)
{
	char link[8];

	return readlink("/proc/self/exe", link, sizeof(link)) < 0 && errno == ENOENT;
}

/*
 * The C library's own count of its threads, by which it finds the last one itself. A main thread
 * that has ended is not among them. 0: not known. (Debuggers read it, too: libthread_db.)
 */
static unsigned int counted_by_library(void)
{
	const unsigned int *count = dlvsym(RTLD_DEFAULT, "__nptl_nthreads", "GLIBC_PRIVATE");

	return count != NULL ? __atomic_load_n(count, __ATOMIC_RELAXED) : 0;
}

/* Opens no file: the program may expect to get that number next. The kernel counts the main thread
 * until the process ends. */
static bool only_ours_are_left(void)
{
	struct stat tasks;

	if (stat("/proc/self/task", &tasks) != 0)
		return counted_by_library() == reprise_thread_count();
	return main_has_ended() && tasks.st_nlink == DIRECTORIES + 1 + reprise_thread_count();
}

/* Ends the process as the C library does. From here on this is one of the program's threads. */
static void end_process(void)
{
	reprise_inside = 0;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	exit(0);
}

static void *run(void *unused)
{
	uint64_t pause = REPRISE_TUNE_ENDING_SOON_NS;

	reprise_inside = REPRISE_INSIDE_FOR_GOOD;
	for (;;) {
		uint32_t count = atomic_load(&living);

		if (count > 0) {
			reprise_futex_wait(&living, count, 0);
			pause = REPRISE_TUNE_ENDING_SOON_NS;
			continue;
		}
		if (only_ours_are_left())
			end_process();
		reprise_futex_wait(&living, 0, pause);
		pause = pause < REPRISE_TUNE_ENDING_SELDOM_NS ? 2 * pause : REPRISE_TUNE_ENDING_SELDOM_NS;
	}
	return NULL;
}

/* The program's exit handlers run on this thread, so it has a stack of the default size. */
static void start(void)
{
	bool absent = false;

	if (atomic_compare_exchange_strong(&watched, &absent, true) &&
	    !reprise_thread_start_with(run, "reprise-end", 0))
		atomic_store(&watched, false);
}

static void thread_ends(void *unused)
{
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	if (atomic_fetch_sub(&living, 1) != 1)
		return;
	if (reprise_thread_count() > 0)
		start();
	reprise_futex_wake(&living);
}

void reprise_ending_begin(bool now)
{
	if (atomic_load(&has_key) || pthread_key_create(&counted, thread_ends) != 0)
		return;
	atomic_store(&has_key, true);
	count_in();
	if (now)
		start();
}

void reprise_ending_reset(void)
{
	if (!atomic_exchange(&has_key, false))
		return;
	pthread_key_delete(counted);
	atomic_store(&living, 0);
	atomic_store(&watched, false);
}

/* ---- functions that run when a thread ends ---- */

/* If another thread made the key meanwhile, or a signal handler in this one, the new key is
 * deleted. */
static uint64_t make(struct reprise_thread_end *end)
{
	uint64_t before = 0;
	pthread_key_t key;

	if (pthread_key_create(&key, end->ends) != 0)
		return 0;
	if (atomic_compare_exchange_strong(&end->key, &before, (uint64_t)key + 1))
		return (uint64_t)key + 1;
	pthread_key_delete(key);
	return before;
}

void reprise_thread_end_hear(struct reprise_thread_end *end)
{
	uint64_t key = atomic_load(&end->key);

	if (key == 0)
		key = make(end);
	if (key != 0 && pthread_getspecific((pthread_key_t)(key - 1)) == NULL)
		pthread_setspecific((pthread_key_t)(key - 1), end);
}
