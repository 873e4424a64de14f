#include "threads.h"

#include <sched.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"
#include "base/inside.h"
#include "graph/building.h"
#include "lane/async_launch.h"
#include "lane/hold.h"

static uint64_t until; /* when the worker that runs is to stop */

void threads_are_there(void)
{
	atomic_store(&reprise_builder.state, REPRISE_WORKER_AWAKE);
	atomic_store(&reprise_hold_worker.state, REPRISE_WORKER_AWAKE);
	atomic_store(&reprise_async_launch_worker.state, REPRISE_WORKER_AWAKE);
}

void thread_runs(struct reprise_worker *worker, uint64_t ns)
{
	int inside = reprise_inside;

	until = reprise_clock_virtual + ns;
	atomic_store(&worker->stopped, false);
	worker->run(NULL);
	atomic_store(&worker->stopped, false);
	reprise_inside = inside;
}

/* It sleeps: until it is to stop, at most. It looks once more then. */
static void sleep_for(struct reprise_worker *worker, uint64_t ns)
{
	uint64_t left = until > reprise_clock_virtual ? until - reprise_clock_virtual : 0;

	atomic_store(&worker->stopped, left == 0);
	reprise_clock_virtual += ns < left ? ns : left;
}

/* In the place of those of base/worker.c, base/thread.c and libc. */
void __wrap_reprise_worker_pause(struct reprise_worker *worker, uint32_t seen, uint64_t ns);
void __wrap_reprise_worker_sleep(struct reprise_worker *worker, bool (*has_work)(void));
bool __wrap_reprise_thread_start(void *(*run)(void *), const char *name);
uint64_t __wrap_reprise_processor_ns(void);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *rest);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);

void __wrap_reprise_worker_pause(struct reprise_worker *worker, uint32_t seen, uint64_t ns)
{
	sleep_for(worker, ns == 0 ? UINT64_MAX : ns);
}

void __wrap_reprise_worker_sleep(struct reprise_worker *worker, bool (*has_work)(void))
{
	sleep_for(worker, has_work() ? 0 : UINT64_MAX);
}

bool __wrap_reprise_thread_start(void *(*run)(void *), const char *name)
{
	return false;
}

uint64_t __wrap_reprise_processor_ns(void)
{
	return reprise_clock_virtual;
}

int __wrap_nanosleep(const struct timespec *pause, struct timespec *rest)
{
	sleep_for(&reprise_async_launch_worker, (uint64_t)pause->tv_nsec);
	return 0;
}

int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	CPU_ZERO(set);
	CPU_SET(0, set);
	CPU_SET(1, set);
	return 0;
}
