#include "base/lock.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tuning.h"

void reprise_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	struct timespec limit = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
	                         .tv_nsec = (long)(nanoseconds % 1000000000u)};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds > 0 ? &limit : NULL, NULL, 0);
}

void reprise_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

_Atomic uint64_t reprise_wait_longest_ns;

void reprise_waited_since(uint64_t begin)
{
	uint64_t waited = reprise_clock_ns() - begin;

	if (reprise_is_programs_thread() &&
	    waited > atomic_load_explicit(&reprise_wait_longest_ns, memory_order_relaxed))
		atomic_store_explicit(&reprise_wait_longest_ns, waited, memory_order_relaxed);
}

static bool spin(struct reprise_lock *lock)
{
	for (int spins = 0; spins < REPRISE_TUNE_LOCK_SPINS; spins++) {
		if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 && reprise_lock_grab(lock))
			return true;
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	}
	return false;
}

void reprise_lock_wait(struct reprise_lock *lock)
{
	uint64_t begin = reprise_clock_ns();

	if (!spin(lock))
		while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
			reprise_futex_wait(&lock->word, 2, 0);
	reprise_waited_since(begin);
}

bool reprise_lock_take_within(struct reprise_lock *lock, uint64_t nanoseconds)
{
	uint64_t end = reprise_clock_ns() + nanoseconds;

	while (!reprise_lock_try(lock)) {
		if (reprise_clock_ns() > end)
			return false;
		sched_yield();
	}
	return true;
}

void reprise_lock_wake(struct reprise_lock *lock)
{
	reprise_futex_wake(&lock->word);
}

void reprise_nap(unsigned int looks)
{
	struct timespec pause = {.tv_nsec = REPRISE_TUNE_NAP_NS};

	if (looks < REPRISE_TUNE_NAP_YIELDS)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}
