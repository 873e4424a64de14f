/*
 * A lock of one word: one atomic exchange when nobody else wants it, a futex when somebody does.
 *
 * The order of all locks in Reprise. Who holds one may take only those further down:
 *
 *     compiling   one trace is being captured and instantiated (graph/build.c)
 *     lane        everything of one lane (lane/lane.c); never two lanes at once
 *     registry    a lane is looked up, made or retired (lane/registry.c)
 *     leaves      the function table (op/function.c), the build queue (graph/build.c), the graveyard (graph/graveyard.c)
 *
 * No lock is held while the program's own eager call is in the driver.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct reprise_lock {
	_Atomic uint32_t word; /* 0 free, 1 held, 2 held and somebody sleeps */
};

void reprise_lock_wait(struct reprise_lock *lock);
void reprise_lock_wake(struct reprise_lock *lock);

static inline bool reprise_lock_try(struct reprise_lock *lock)
{
	uint32_t expected = 0;

	return atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1, memory_order_acquire, memory_order_relaxed);
}

static inline void reprise_lock_take(struct reprise_lock *lock)
{
	if (__builtin_expect(!reprise_lock_try(lock), 0))
		reprise_lock_wait(lock);
}

static inline void reprise_lock_give(struct reprise_lock *lock)
{
	if (__builtin_expect(atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2, 0))
		reprise_lock_wake(lock);
}

/* Futex on any word: sleeps while *word == value, at most `nanoseconds` (0: without limit). May return early. */
void reprise_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds);
void reprise_futex_wake(_Atomic uint32_t *word);
