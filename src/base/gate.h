/*
 * The gate keeps the builder's driver calls apart from the program's, where each could wait for the
 * other (docs/design/gate.md).
 *
 * Two kinds of calls pass it, the program's own and those that Reprise makes in their place:
 *
 *     giving    gives a context work that may wait for something later: launches, host functions,
 *               waits for events, values and semaphores, allocations in stream order.
 *     waiting   may wait until a context or a device is idle, and may block all other threads'
 *               launches meanwhile: freeing memory, loading modules, instantiating graphs,
 *               creating streams.
 *
 * The builder works (calls the driver) only while no call is waiting, and no waiting call begins
 * until it is done. For its own calls that wait, it also closes the gate to calls that give work to
 * one context (workers/quiescence.h).
 *
 * Each thread has a slot of its own. So threads that give work share no written word, and the slot
 * of a thread that ends within its call, by cancellation or in a signal handler, is cleared. A
 * thread that gives work counts as inside (inside.h): what the driver calls back passes straight
 * through.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/inside.h"
#include "base/placement.h"

#define REPRISE_GATE_ANY ((uintptr_t)1) /* in place of a context: which one is not known */

/* Calls that give work and of which nothing else is noted. */
enum reprise_gate_passed {
	REPRISE_GATE_PAUSED, /* while Reprise is paused */
	REPRISE_GATE_UNSEEN, /* in an eager turn */
	REPRISE_GATE_PASSED_COUNT
};

struct reprise_gate_slot {
	/* The context that the thread gives work to; 0: none. */
	_Alignas(64) _Atomic uintptr_t giving;
	/* When the thread made a call of unknown effect; 0: it has made another call since. */
	_Atomic uint64_t doubted;
	/* By all threads that have had the slot. */
	_Atomic uint64_t passed[REPRISE_GATE_PASSED_COUNT];
	_Atomic bool taken;
	struct reprise_gate_slot *next;
};

/* The context that the gate is closed to; 0: open. */
extern _Atomic uintptr_t reprise_gate_closed;
/* Calls under way that may wait for all work. */
extern _Alignas(64) _Atomic uint32_t reprise_gate_waiting;

/* This thread's. */
struct reprise_gate_thread {
	struct reprise_gate_slot *slot; /* NULL until the thread first gives work */
	/* Its calls that may wait. More than one if a signal handler makes one within another. */
	unsigned int waiting;
};

extern _Thread_local struct reprise_gate_thread reprise_gate_thread
	__attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

struct reprise_gate_slot *reprise_gate_find_slot(void); /* from inside */
void reprise_gate_find_own_slot(void);
void reprise_gate_wait(uintptr_t closed);

/* Around a call that gives work to a context, NULL if that is not known. Waits while the gate is
 * closed to the context: for milliseconds at most. */
static inline void reprise_gate_begin_giving(const void *context)
{
	uintptr_t giving = context != NULL ? (uintptr_t)context : REPRISE_GATE_ANY, closed;
	struct reprise_gate_slot *slot;

	/* First of all: the handler of a signal that comes now passes straight through. */
	reprise_inside++;
	atomic_signal_fence(memory_order_seq_cst);
	slot = reprise_gate_thread.slot;
	if (__builtin_expect(slot == NULL, 0))
		slot = reprise_gate_find_slot();
	for (;;) {
		atomic_store(&slot->giving, giving);
		closed = atomic_load(&reprise_gate_closed);
		if (__builtin_expect(closed == 0, 1) || (closed != giving && giving != REPRISE_GATE_ANY))
			return;
		atomic_store(&slot->giving, 0);
		reprise_gate_wait(closed);
	}
}

static inline void reprise_gate_end_giving(void)
{
	atomic_store_explicit(&reprise_gate_thread.slot->giving, 0, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	reprise_inside--;
}

/* Counts a call of this thread's that passes; returns how many its slot has counted. Threads that
 * share a slot, where there was no memory for another, may lose a few. */
static inline uint64_t reprise_gate_count(enum reprise_gate_passed what)
{
	_Atomic uint64_t *passed;
	uint64_t count;

	if (__builtin_expect(reprise_gate_thread.slot == NULL, 0))
		reprise_gate_find_own_slot();
	passed = &reprise_gate_thread.slot->passed[what];
	count = atomic_load_explicit(passed, memory_order_relaxed) + 1;
	atomic_store_explicit(passed, count, memory_order_relaxed);
	return count;
}

/* All that were counted. */
uint64_t reprise_gate_counted(enum reprise_gate_passed what);

/*
 * Around a call of the program's that may wait for all work. Waits while the builder works: for
 * milliseconds at most. No lock may be held. While such a call is under way, no lane begins to
 * defer (lane/follow.c).
 */
void reprise_gate_begin_waiting(void);
void reprise_gate_end_waiting(void);

/* Before a call whose effect and end are not known. It counts as giving work and as waiting until
 * the thread calls reprise_gate_doubt_no_more(), for a second at most. */
void reprise_gate_doubt(void);
void reprise_gate_doubt_no_more(void);
bool reprise_gate_is_in_doubt(void); /* true if any thread's call is in doubt */

/* Waits for `patience_ns` at most until no other thread is in a waiting call. True if so. If this
 * thread is in one, no other thread blocks the calls that it makes. */
bool reprise_gate_alone(uint64_t patience_ns);

/*
 * By the builder, or a thread that does its work; others wait for their turn. True if no call is
 * waiting; none begins until reprise_gate_end_work(). If false, the caller sleeps on `word`, for
 * *pause nanoseconds at most (0: until woken). If a call is waiting, the end of the last one
 * changes and wakes `word`, and lets the caller go first. All callers pass the same word, or one
 * would be woken in place of another.
 */
bool reprise_gate_begin_work(_Atomic uint32_t *word, uint64_t *pause);
void reprise_gate_end_work(void);

/*
 * Between begin_work and end_work. Closes the gate to the context, and waits for `patience_ns` at
 * most until no thread gives it work. True if so; else the gate is open again. The caller holds
 * nothing that a thread giving work may want.
 */
bool reprise_gate_close(const void *context, uint64_t patience_ns);
void reprise_gate_open(void);

/* After fork, in the child. */
void reprise_gate_reset(void);
