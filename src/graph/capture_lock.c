#include "graph/capture_lock.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/gate.h"
#include "base/hash.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/tuning.h"

/* contexts that share an entry wait for each other's captures */
#define CONTEXTS 16

static struct {
	_Atomic uint32_t syncing;   /* threads of the program that synchronise the context */
	_Atomic uint32_t capturing; /* open captures of Reprise's */
} contexts[CONTEXTS];
static _Atomic uint32_t
	wanted; /* 1: the builder waits; 2: a call of the program's lets it go first; a futex */

static unsigned int slot_of(CUcontext context)
{
	return (unsigned int)(reprise_hash_mix((uintptr_t)context, 3) % CONTEXTS);
}

bool reprise_capture_lock_enter(CUcontext context)
{
	unsigned int slot = slot_of(context);

	atomic_fetch_add(&contexts[slot].capturing, 1);
	reprise_gate_doubt_no_more(); /* this thread's own unknown call is over */
	if (atomic_load(&contexts[slot].syncing) == 0 && !reprise_gate_is_in_doubt())
		return true;
	atomic_fetch_sub(&contexts[slot].capturing, 1);
	return false;
}

bool reprise_capture_lock_enter_soon(CUcontext context, uint64_t nanoseconds)
{
	uint64_t end = reprise_clock_ns() + nanoseconds;
	bool entered = reprise_capture_lock_enter(context);

	atomic_store(&wanted, !entered);
	while (!entered && reprise_clock_ns() < end) {
		if (atomic_load(&wanted) == 1)
			reprise_futex_wait(&wanted, 1, REPRISE_TUNE_CAPTURE_LOOK_NS);
		else
			sched_yield(); /* a call lets us go first, and another one is still under way */
		entered = reprise_capture_lock_enter(context);
	}
	atomic_store(&wanted, 0);
	return entered;
}

void reprise_capture_lock_leave(CUcontext context)
{
	atomic_fetch_sub(&contexts[slot_of(context)].capturing, 1);
}

/* Lets the builder go first: a program that only synchronises would leave it no moment. */
static void be_courteous(void)
{
	uint64_t begin = reprise_clock_ns();

	atomic_store(&wanted, 2);
	reprise_futex_wake(&wanted);
	while (atomic_load(&wanted) != 0 &&
	       reprise_clock_ns() < begin + REPRISE_TUNE_CAPTURE_COURTESY_NS)
		sched_yield();
	reprise_waited_since(begin);
}

/* The entries from *first on that the call concerns; all if its context is unknown. */
static unsigned int slots_of(CUcontext context, unsigned int *first)
{
	*first = context != NULL ? slot_of(context) : 0;
	return context != NULL ? 1 : CONTEXTS;
}

static void add_to_syncing(unsigned int first, unsigned int count, uint32_t change)
{
	for (unsigned int i = first; i < first + count; i++)
		atomic_fetch_add(&contexts[i].syncing, change);
}

static bool any_captures(unsigned int first, unsigned int count)
{
	for (unsigned int i = first; i < first + count; i++)
		if (atomic_load(&contexts[i].capturing) != 0)
			return true;
	return false;
}

static void wait_for_capture(unsigned int first, unsigned int count)
{
	uint64_t begin = reprise_clock_ns();

	for (unsigned int looks = 0; any_captures(first, count); looks++)
		reprise_nap(looks);
	reprise_waited_since(begin);
}

void reprise_context_sync_begin(CUcontext context)
{
	REPRISE_KEEP_ERRNO;
	unsigned int first, count = slots_of(context, &first);

	if (__builtin_expect(atomic_load(&wanted) != 0, 0))
		be_courteous();
	for (;;) {
		add_to_syncing(first, count, 1);
		if (!any_captures(first, count))
			return;
		add_to_syncing(first, count, -1u);
		wait_for_capture(first, count);
	}
}

void reprise_context_sync_end(CUcontext context)
{
	unsigned int first, count = slots_of(context, &first);

	add_to_syncing(first, count, -1u);
}

void reprise_capture_lock_reset(void)
{
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		atomic_store(&contexts[i].syncing, 0);
		atomic_store(&contexts[i].capturing, 0);
	}
	atomic_store(&wanted, 0);
}
