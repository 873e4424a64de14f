#include "exclusion.h"

#include <sched.h>
#include <stdatomic.h>

#include "../base/clock.h"
#include "../base/lock.h"

#define COURTESY_NS 300000u /* the longest that a call of the program's waits for a capture that has not begun */

static _Atomic uint32_t syncing;   /* threads of the program in such a call */
static _Atomic uint32_t capturing; /* captures of ours that are open */
static _Atomic uint32_t wanted;    /* the building thread waits for its turn; a futex */

bool reprise_capture_enter(void)
{
	atomic_fetch_add(&capturing, 1);
	if (atomic_load(&syncing) == 0)
		return true;
	atomic_fetch_sub(&capturing, 1);
	return false;
}

bool reprise_capture_enter_soon(uint64_t nanoseconds)
{
	uint64_t end = reprise_clock_ns() + nanoseconds;
	bool entered = reprise_capture_enter();

	atomic_store(&wanted, !entered);
	while (!entered && reprise_clock_ns() < end) {
		reprise_futex_wait(&wanted, 1, 200000);
		entered = reprise_capture_enter();
	}
	atomic_store(&wanted, 0);
	return entered;
}

void reprise_capture_leave(void)
{
	atomic_fetch_sub(&capturing, 1);
}

/* Lets the building thread go first: a program that does little but synchronise would leave it no moment otherwise. */
static void be_courteous(void)
{
	uint64_t begin = reprise_clock_ns();

	atomic_store(&wanted, 2);
	reprise_futex_wake(&wanted);
	while (atomic_load(&wanted) != 0 && reprise_clock_ns() < begin + COURTESY_NS)
		sched_yield();
	reprise_waited_since(begin);
}

static void wait_for_capture(void)
{
	uint64_t begin = reprise_clock_ns();

	while (atomic_load(&capturing) != 0)
		sched_yield();
	reprise_waited_since(begin);
}

void reprise_context_sync_begin(void)
{
	if (__builtin_expect(atomic_load(&wanted) != 0, 0))
		be_courteous();
	for (;;) {
		atomic_fetch_add(&syncing, 1);
		if (atomic_load(&capturing) == 0)
			return;
		atomic_fetch_sub(&syncing, 1);
		wait_for_capture();
	}
}

void reprise_context_sync_end(void)
{
	atomic_fetch_sub(&syncing, 1);
}

void reprise_exclusion_reset(void)
{
	atomic_store(&syncing, 0);
	atomic_store(&capturing, 0);
	atomic_store(&wanted, 0);
}
