/*
 * A thread of ours that works while there is anything to do and sleeps when there is nothing, until
 * it is woken. Whoever has work for it only reads whether it sleeps: while it is awake, that takes
 * no system call.
 *
 * Two ways to sleep: reprise_worker_sleep() for as long as there is no work, and
 * reprise_worker_pause() for a while, which reprise_worker_call() cuts short.
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
	_Atomic uint32_t state; /* also what it sleeps on */
	_Atomic uint32_t calls; /* goes up with each call; what it pauses on */
	struct reprise_lock starting;
	_Atomic bool stopped;
	void *(*run)(void *);
	const char *name;
};

/* What the thread does, until it is stopped; before anything else, and again in a forked child.
 * `name` stays, 15 bytes at most. */
void reprise_worker_define(struct reprise_worker *worker, void *(*run)(void *), const char *name);

/* Whether the thread is there: starts it if it is not. False if it is not defined either. */
bool reprise_worker_ready(struct reprise_worker *worker);

/* By the thread: sleeps until it is woken, unless there is work. `has_work` is called once the
 * state says that the thread sleeps. */
void reprise_worker_sleep(struct reprise_worker *worker, bool (*has_work)(void));

/* By the thread: sleeps for so long (0: without end), unless calls have come since `seen`, which
 * was read before it looked for work. */
void reprise_worker_pause(struct reprise_worker *worker, uint32_t seen, uint64_t ns);

/* There is something to do at once. A system call, unless nobody has ever started the thread. */
void reprise_worker_call(struct reprise_worker *worker);

void reprise_worker_rouse(struct reprise_worker *worker);

/* There is work: what `has_work` reads has been set before. */
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

/* By the thread, at its end, for who waits for that. */
static inline void reprise_worker_done(struct reprise_worker *worker)
{
	atomic_store(&worker->state, REPRISE_WORKER_DONE);
}

/* Stops it, and waits until it says that it is done, for so long at most. */
void reprise_worker_finish(struct reprise_worker *worker, uint64_t patience_ns);

/* After fork, in the child: there is no thread. */
void reprise_worker_reset(struct reprise_worker *worker);
