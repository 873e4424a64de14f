/*
 * A lock of one word: one atomic exchange when nobody else wants it, a futex when somebody does.
 *
 * The order of all locks in Reprise. Who holds one may take only those further down:
 *
 *     start       Reprise starts, at the first call (process/process.c); takes leaves alone
 *     role        works in the place of, or as, the building thread (base/gate.c)
 *     compiling   graphs are being captured and instantiated (graph/building.c)
 *     joining     lanes join, or are parted (lane/group/merge.c)
 *     lane        everything of one lane (lane/lane.h); never two lanes at once
 *     queue       a lane's completed visits are launched (lane/pending.h)
 *     registry    a lane is looked up, made or retired (lane/registry.c)
 *     leaves      what changed (base/changes.h), the start of a thread (base/worker.h),
 *                 the function table (op/function.c), the build queue (graph/build_queue.c),
 *                 the graveyard (graph/reclaim.c), the program's captures (graph/program_captures.c),
 *                 errors that are kept (lane/errors.c), events that have ended (lane/ended_events.c),
 *                 who met whom (lane/group/detect.c), the recorder (record/record.c),
 *                 traces that ended (trace/account.c), the series over time (stats/series.c),
 *                 the sums of kernels (stats/kernels.c), a report that is written
 *                 (report/report.c), what ran on the GPU, for the timeline
 *                 (timeline/activities.c)
 *
 * No lock is held while the program's own eager call is in the driver.
 *
 * The gate (gate.h) comes after lanes: who holds a lane's lock may go through it, and wait there;
 * who has closed it takes no lock but leaves.
 *
 * A thread that holds one counts as inside Reprise (inside.h). So a signal's handler that
 * interrupts it may end the program or call CUDA, though CUDA does not promise that, and waits for
 * no lock that only it could give.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/inside.h"

struct reprise_lock {
	_Atomic uint32_t word; /* 0 free, 1 held, 2 held and somebody sleeps */
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

/* Inside before the lock is held, and until it is not: a signal may come between any two
 * instructions. */
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

/* Takes the lock if it is free within so long: its holder may be kept in the driver. */
bool reprise_lock_take_within(struct reprise_lock *lock, uint64_t nanoseconds);

static inline void reprise_lock_give(struct reprise_lock *lock)
{
	if (__builtin_expect(atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2, 0))
		reprise_lock_wake(lock);
	atomic_signal_fence(memory_order_seq_cst);
	reprise_inside--;
}

/* The longest that a call of the program's ever waited for us, in nanoseconds: for a lock, or for
 * the building thread. */
extern _Atomic uint64_t reprise_wait_longest_ns;
/* This thread waited from `begin` until now. */
void reprise_waited_since(uint64_t begin);

/* Futex on any word: sleeps while *word == value, at most `nanoseconds` (0: without limit). May
 * return early. */
void reprise_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds);
void reprise_futex_wake(_Atomic uint32_t *word);
