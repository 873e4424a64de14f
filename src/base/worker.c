#include "base/worker.h"

#include "base/thread.h"

bool reprise_worker_ready(struct reprise_worker *worker, void *(*run)(void *), const char *name)
{
	bool ready;

	if (__builtin_expect(atomic_load(&worker->state) != REPRISE_WORKER_ABSENT, 1))
		return true;
	reprise_lock_take(&worker->starting);
	ready = atomic_load(&worker->state) != REPRISE_WORKER_ABSENT;
	if (!ready) {
		uint32_t state = REPRISE_WORKER_ABSENT;

		ready = reprise_thread_start(run, name);
		/* The thread may have gone to sleep by now, and then somebody has to know that it sleeps.
		 */
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

void reprise_worker_rouse(struct reprise_worker *worker)
{
	uint32_t state = REPRISE_WORKER_ASLEEP;

	if (atomic_compare_exchange_strong(&worker->state, &state, REPRISE_WORKER_AWAKE))
		reprise_futex_wake(&worker->state);
}

void reprise_worker_reset(struct reprise_worker *worker)
{
	atomic_store(&worker->state, REPRISE_WORKER_ABSENT);
	atomic_store(&worker->starting.word, 0);
	atomic_store(&worker->stopped, false);
}
