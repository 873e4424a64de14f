/*
 * A thread of ours that works while there is anything to do and sleeps when there is nothing, until
 * somebody wakes it. Who has work for it only reads whether it sleeps: while it is awake, that
 * takes no system call.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

enum reprise_worker_state { REPRISE_WORKER_ABSENT, REPRISE_WORKER_AWAKE, REPRISE_WORKER_ASLEEP };

struct reprise_worker {
	_Atomic uint32_t state; /* also what it sleeps on */
	struct reprise_lock starting;
	_Atomic bool stopped;
};

/* Whether the thread is there: starts it if it is not. */
bool reprise_worker_ready(struct reprise_worker *worker, void *(*run)(void *), const char *name);

/* By the thread: sleeps until it is woken, unless there is work. Called with what tells so once the
 * thread says that it sleeps. */
void reprise_worker_sleep(struct reprise_worker *worker, bool (*has_work)(void));

void reprise_worker_rouse(struct reprise_worker *worker);

/* There is work: what tells so has been set before. */
static inline void reprise_worker_wake(struct reprise_worker *worker)
{
	if (__builtin_expect(atomic_load(&worker->state) != REPRISE_WORKER_AWAKE, 0))
		reprise_worker_rouse(worker);
}

/* At exit: the thread does nothing more. */
static inline void reprise_worker_stop(struct reprise_worker *worker)
{
	atomic_store(&worker->stopped, true);
}

static inline bool reprise_worker_stopped(const struct reprise_worker *worker)
{
	return atomic_load(&worker->stopped);
}

/* After fork, in the child: there is no thread. */
void reprise_worker_reset(struct reprise_worker *worker);
