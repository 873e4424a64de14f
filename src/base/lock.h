/*
 * A lock of one word: one atomic exchange without contention, a futex with it.
 *
 * The order of all locks in Reprise. A thread that holds one may take only those further down:
 *
 *     start       Reprise starts, at the first call (process/process.c); takes leaves only
 *     role        the work of the builder, or done in its place (base/gate.c)
 *     compiling   graphs are captured and instantiated (graph/building.c)
 *     joining     streams are merged into a group, or a group is split (lane/group/merge.c)
 *     lane        everything of one lane (lane/lane.h); never two lanes at once
 *     queue       a lane's pending launches are made (lane/launch.h)
 *     registry    a lane is looked up, made or retired (lane/registry.c)
 *     leaves      changes (base/changes.h), the start of a thread (base/worker.h), the function
 *                 table (op/function.c), the build queue (graph/build_queue.c), the reclaim list
 *                 (graph/reclaim.c), the program's captures (graph/program_captures.c), kept
 *                 errors (lane/errors.c), turns (lane/anchor.c), ended events
 *                 (lane/ended_events.c), fork detection
 *                 (lane/group/detect.c), the recorder (record/record.c), accounts of ended traces
 *                 (trace/account.c), the series over time (stats/series.c), the sums of kernels
 *                 (stats/kernels.c), writing a report (report/report.c), the timeline's
 *                 activities of the GPU (timeline/activities.c), NVTX's handles
 *                 and functions (nvtx/ranges.h)
 *
 * No lock is held while the program's own eager call is in the driver.
 *
 * The gate (gate.h) comes after `lane`: a thread that holds a lane's lock may pass the gate, and
 * wait there. A thread that has closed the gate takes leaves only.
 *
 * A thread that holds a lock counts as inside Reprise (inside.h). So a signal handler that
 * interrupts it may end the program or call CUDA, though CUDA does not promise that, and never
 * waits for a lock of its own thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/inside.h"

struct reprise_lock {
	_Atomic uint32_t word; /* 0 free, 1 held, 2 held and a thread sleeps */
};

void reprise_lock_wait(struct reprise_lock *lock);
void reprise_lock_wake(struct reprise_lock *lock);

/* Takes the lock if it is free. */
static inline bool reprise_lock_grab(struct reprise_lock *lock)
{
	uint32_t expected = 0;

	return atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1, memory_order_acquire,
	                                               memory_order_relaxed);
}

/* Counts as inside before the lock is held and until it is released: a signal may come between any
 * two instructions. */
static inline void reprise_lock_take(struct reprise_lock *lock)
{
	reprise_inside++;
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(!reprise_lock_grab(lock), 0))
		reprise_lock_wait(lock);
}

static inline bool reprise_lock_try(struct reprise_lock *lock)
{
	reprise_inside++;
	atomic_signal_fence(memory_order_seq_cst);
	if (reprise_lock_grab(lock))
		return true;
	reprise_inside--;
	return false;
}

/* Takes the lock if it is free within `nanoseconds`: its holder may be blocked in the driver. */
bool reprise_lock_take_within(struct reprise_lock *lock, uint64_t nanoseconds);

static inline void reprise_lock_give(struct reprise_lock *lock)
{
	if (__builtin_expect(atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2, 0))
		reprise_lock_wake(lock);
	atomic_signal_fence(memory_order_seq_cst);
	reprise_inside--;
}

/* The longest that a call of the program's ever waited for Reprise, in nanoseconds: for a lock, or
 * for the builder. */
extern _Atomic uint64_t reprise_wait_longest_ns;
/* This thread waited from `begin` until now. */
void reprise_waited_since(uint64_t begin);

/* Futex on any word: sleeps while *word == value, at most `nanoseconds` (0: no limit). May return
 * early. */
void reprise_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds);
void reprise_futex_wake(_Atomic uint32_t *word);

/* A pause between two polls. It yields at first and sleeps later, so that a thread of lower
 * priority gets the processor. `looks`: the number of polls so far. Changes errno. */
void reprise_nap(unsigned int looks);
