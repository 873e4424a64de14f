/*
 * A thread of Reprise's that sleeps while it has nothing to do. A caller that has work for it only
 * reads its state: no system call while the thread is awake.
 *
 * Two ways to sleep: reprise_worker_sleep() as long as there is no work, and reprise_worker_pause()
 * for a time, which reprise_worker_call() cuts short.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

enum reprise_worker_state {
	REPRISE_WORKER_ABSENT,
	REPRISE_WORKER_AWAKE,
	REPRISE_WORKER_ASLEEP,
	REPRISE_WORKER_DONE, /* it does nothing more */
};

struct reprise_worker {
	_Atomic uint32_t state; /* the thread sleeps on it */
	_Atomic uint32_t calls; /* number of calls; the thread pauses on it */
	struct reprise_lock starting;
	_Atomic bool stopped;
	void *(*run)(void *);
	const char *name;
};

/* `run` is what the thread does until it is stopped. Before anything else, and again in a forked
 * child. `name` stays valid, and has 15 bytes at most. */
void reprise_worker_define(struct reprise_worker *worker, void *(*run)(void *), const char *name);

/* Starts the thread if it is not there. False if it cannot be started, or is not defined. */
bool reprise_worker_ready(struct reprise_worker *worker);

/* By the thread: sleeps until it is woken, unless there is work. `has_work` is called after the
 * state says ASLEEP. */
void reprise_worker_sleep(struct reprise_worker *worker, bool (*has_work)(void));

/* By the thread: sleeps for `ns` (0: without limit), unless there were calls since `seen`, which
 * the thread read before it looked for work, and whether it is stopped. */
void reprise_worker_pause(struct reprise_worker *worker, uint32_t seen, uint64_t ns);

/* There is work to do at once. Always a system call. */
void reprise_worker_call(struct reprise_worker *worker);

void reprise_worker_rouse(struct reprise_worker *worker);

/* There is work. What `has_work` reads is set before. */
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

/* By the thread, at its end. */
static inline void reprise_worker_done(struct reprise_worker *worker)
{
	atomic_store(&worker->state, REPRISE_WORKER_DONE);
}

/* Stops the thread, and waits for `patience_ns` at most until it is done. */
void reprise_worker_finish(struct reprise_worker *worker, uint64_t patience_ns);

/* After fork, in the child: the thread does not exist. */
void reprise_worker_reset(struct reprise_worker *worker);
