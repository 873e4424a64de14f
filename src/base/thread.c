#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/tuning.h"

#define STACK_BYTES (1 << 20) /* the driver's own frames are large */

static _Atomic uint64_t failed_at; /* 0: never */
static _Atomic unsigned int running;
static _Atomic uint32_t starting; /* a futex */

/* The processors for Reprise's threads; a count of 0: those of the starting thread. */
static cpu_set_t processors;
static int processor_count;

struct beginning {
	void *(*run)(void *);
	const char *name;
};

unsigned int reprise_thread_count(void)
{
	return atomic_load(&running);
}

void reprise_thread_note_processors(void)
{
	cpu_set_t of_main, all;

	processor_count = 0;
	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	if (sched_getaffinity(getpid(), sizeof(of_main), &of_main) == 0)
		CPU_OR(&all, &all, &of_main);
	processors = all;
	processor_count = CPU_COUNT(&all);
}

static bool is_real_time(void)
{
	int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	return policy == SCHED_FIFO || policy == SCHED_RR;
}

bool reprise_thread_is_alone(void)
{
	return processor_count == 1 && is_real_time();
}

static void note_failure(void)
{
	if (atomic_exchange(&failed_at, reprise_clock_ns()) == 0)
		reprise_log(REPRISE_LOG_WARNING,
		            "no thread could be started: nothing will be replayed until one can");
}

static void *begin(void *context)
{
	struct beginning *beginning = context;
	void *(*run)(void *) = beginning->run;
	void *result;

	reprise_float_begin();
	prctl(PR_SET_NAME, beginning->name);
	free(beginning);
	atomic_fetch_add(&running, 1);
	if (atomic_fetch_sub(&starting, 1) == 1)
		reprise_futex_wake(&starting);
	result = run(NULL);
	atomic_fetch_sub(&running, 1);
	return result;
}

/* Makes the new thread an ordinary one if this one is real-time. (The idle and batch policies are
 * inherited: leaving them takes rights, and they block no other thread.) */
static void make_ordinary(pthread_attr_t *attributes)
{
	if (!is_real_time())
		return;
	pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
	pthread_attr_setschedparam(attributes, &(struct sched_param){.sched_priority = 0});
}

/* Returns the error. `where`: the processors for the thread, or NULL for those of its starter. */
static int create(struct beginning *beginning, unsigned int stack_bytes, const cpu_set_t *where)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (error != 0)
		return error;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (stack_bytes > 0)
		pthread_attr_setstacksize(&attributes, stack_bytes);
	make_ordinary(&attributes);
	if (where != NULL)
		error = pthread_attr_setaffinity_np(&attributes, sizeof(*where), where);
	if (error == 0)
		error = pthread_create(&thread, &attributes, begin, beginning);
	pthread_attr_destroy(&attributes);
	return error;
}

/* Falls back to the starter's processors if the process may no longer use any of the noted ones. */
static bool create_anywhere(struct beginning *beginning, unsigned int stack_bytes)
{
	int error = create(beginning, stack_bytes, processor_count > 0 ? &processors : NULL);

	if (error == EINVAL && processor_count > 0)
		error = create(beginning, stack_bytes, NULL);
	return error == 0;
}

bool reprise_thread_start_with(void *(*run)(void *), const char *name, unsigned int stack_bytes)
{
	uint64_t failed = atomic_load(&failed_at);
	struct beginning *beginning;
	sigset_t all, before;
	bool started;

	if ((failed != 0 && reprise_clock_ns() - failed < REPRISE_TUNE_THREAD_PAUSE_NS) ||
	    reprise_filters_came())
		return false;
	beginning = malloc(sizeof(*beginning));
	if (beginning == NULL)
		return false;
	*beginning = (struct beginning){run, name};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_fetch_add(&starting, 1);
	started = create_anywhere(beginning, stack_bytes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!started) {
		atomic_fetch_sub(&starting, 1);
		free(beginning);
		note_failure();
	}
	return started;
}

void reprise_thread_await_begun(uint64_t patience_ns)
{
	uint64_t begin = reprise_clock_ns(), spent = 0;

	for (uint32_t count; spent < patience_ns && (count = atomic_load(&starting)) > 0;
	     spent = reprise_clock_ns() - begin)
		reprise_futex_wait(&starting, count, patience_ns - spent);
}

bool reprise_thread_own_files(bool keep_stderr)
{
	unsigned int first = keep_stderr ? STDERR_FILENO + 1u : 0;

	return syscall(SYS_close_range, first, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0 &&
	       (!keep_stderr || syscall(SYS_close_range, 0u, STDERR_FILENO - 1u, 0) == 0);
}

bool reprise_thread_start(void *(*run)(void *), const char *name)
{
	return reprise_thread_start_with(run, name, STACK_BYTES);
}

void reprise_thread_reset(void)
{
	atomic_store(&running, 0);
	atomic_store(&starting, 0);
}

/* ---- filters of system calls ---- */

/* Not noted yet. Not an answer of the kernel: -1 means that it knows no filters. */
#define NEVER (-2)

static _Atomic int filters_noted = NEVER;

#define FILTERS 2

/* 0: none; 1: strict mode; 2: filters. -1: the kernel knows none. Only a filter refuses the
 * question otherwise. */
static int filter_state(void)
{
	REPRISE_KEEP_ERRNO;
	int state = prctl(PR_GET_SECCOMP);

	return state < 0 && errno != EINVAL ? FILTERS : state;
}

void reprise_filters_note(void)
{
	atomic_store(&filters_noted, filter_state());
}

bool reprise_filters_came(void)
{
	int before = atomic_load(&filters_noted);

	return before != NEVER && filter_state() > before;
}

uint64_t reprise_processor_ns(void)
{
	struct timespec used;

	if (reprise_filters_came() || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
		return 0;
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}
