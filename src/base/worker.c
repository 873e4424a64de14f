#include "base/worker.h"

#include <stddef.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/tuning.h"

void reprise_worker_define(struct reprise_worker *worker, void *(*run)(void *), const char *name)
{
	worker->run = run;
	worker->name = name;
}

bool reprise_worker_ready(struct reprise_worker *worker)
{
	bool ready;

	if (__builtin_expect(atomic_load(&worker->state) != REPRISE_WORKER_ABSENT, 1))
		return true;
	reprise_lock_take(&worker->starting);
	ready = atomic_load(&worker->state) != REPRISE_WORKER_ABSENT;
	if (!ready && worker->run != NULL) {
		uint32_t state = REPRISE_WORKER_ABSENT;

		ready = reprise_thread_start(worker->run, worker->name);
		/* The thread may be asleep already. Then the state stays ASLEEP, so that it can be
		 * woken. */
		if (ready)
			atomic_compare_exchange_strong(&worker->state, &state, REPRISE_WORKER_AWAKE);
	}
	reprise_lock_give(&worker->starting);
	return ready;
}

void reprise_worker_sleep(struct reprise_worker *worker, bool (*has_work)(void))
{
	atomic_store(&worker->state, REPRISE_WORKER_ASLEEP);
	while (!has_work() && atomic_load(&worker->state) == REPRISE_WORKER_ASLEEP)
		reprise_futex_wait(&worker->state, REPRISE_WORKER_ASLEEP, 0);
	atomic_store(&worker->state, REPRISE_WORKER_AWAKE);
}

void reprise_worker_pause(struct reprise_worker *worker, uint32_t seen, uint64_t ns)
{
	reprise_futex_wait(&worker->calls, seen, ns);
}

void reprise_worker_call(struct reprise_worker *worker)
{
	atomic_fetch_add(&worker->calls, 1);
	reprise_worker_wake(worker);
	reprise_futex_wake(&worker->calls);
}

void reprise_worker_rouse(struct reprise_worker *worker)
{
	uint32_t state = REPRISE_WORKER_ASLEEP;

	if (atomic_compare_exchange_strong(&worker->state, &state, REPRISE_WORKER_AWAKE))
		reprise_futex_wake(&worker->state);
}

void reprise_worker_finish(struct reprise_worker *worker, uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	reprise_worker_stop(worker);
	if (atomic_load(&worker->state) == REPRISE_WORKER_ABSENT)
		return;
	reprise_worker_call(worker);
	while (atomic_load(&worker->state) != REPRISE_WORKER_DONE && reprise_clock_ns() < end)
		nanosleep(&(struct timespec){.tv_nsec = REPRISE_TUNE_WORKER_LOOK_NS}, NULL);
}

void reprise_worker_reset(struct reprise_worker *worker)
{
	atomic_store(&worker->state, REPRISE_WORKER_ABSENT);
	atomic_store(&worker->starting.word, 0);
	atomic_store(&worker->stopped, false);
}
