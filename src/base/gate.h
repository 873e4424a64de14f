/*
 * The gate: it keeps apart the building thread's calls to the driver and the program's, where both
 * could wait for each other (docs/design/gate.md).
 *
 * Two kinds of calls of the program's come through it:
 *
 *   giving    gives a context work, which may wait for what is yet to come: launches, host
 *             functions, waits for events, values and semaphores, allocations in stream order.
 *             The program's own calls and those of ours that stand for them.
 *   waiting   may wait until a context or a device has nothing to do, and may keep everybody
 *             else from giving it work meanwhile: memory that is freed, modules that are loaded,
 *             graphs that are instantiated, streams that are made.
 *
 * And two things the building thread does: it works (base calls to the driver) only while no call
 * is waiting, and none begins meanwhile; and it closes the gate to those that give one context
 * work, for the calls that wait themselves (workers/quiescence.h).
 *
 * Each thread has a slot of its own, so that who gives work writes to no word that another writes,
 * and a thread that ends in its call, by cancellation or in a signal's handler, is there no more
 * afterwards. Who gives work is inside (inside.h): what the driver calls back passes straight
 * through.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/inside.h"
#include "base/tls.h"

#define REPRISE_GATE_ANY ((uintptr_t)1) /* in the place of a context: nobody knows which */

struct reprise_gate_slot {
	_Alignas(
		64) _Atomic uintptr_t giving; /* the context that its thread is giving work; 0: it is not */
	_Atomic uint64_t doubted; /* when its thread last made a call of which nobody knows what it
	                             does; 0: it made another since */
	_Atomic bool taken;
	struct reprise_gate_slot *next;
};

extern _Atomic uintptr_t reprise_gate_closed; /* the context to which it is closed; 0: it is open */
extern _Alignas(64) _Atomic uint32_t
	reprise_gate_waiting; /* calls under way that may wait for all work */

/* This thread's. */
struct reprise_gate_pass {
	struct reprise_gate_slot *slot; /* NULL until it first gives work */
	unsigned int
		waiting; /* calls of it that may wait; a signal's handler may make one in another */
};

extern _Thread_local struct reprise_gate_pass reprise_gate_pass
	__attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

struct reprise_gate_slot *reprise_gate_find_slot(void);
void reprise_gate_wait(uintptr_t closed);

/* Around a call that gives work to a context, NULL if that is not known. Waits while the gate is
 * closed to it: for milliseconds at most. */
static inline void reprise_gate_enter(const void *context)
{
	uintptr_t giving = context != NULL ? (uintptr_t)context : REPRISE_GATE_ANY, closed;
	struct reprise_gate_slot *slot;

	reprise_inside++; /* before all else: the handler of a signal that comes now passes straight
	                     through */
	atomic_signal_fence(memory_order_seq_cst);
	slot = reprise_gate_pass.slot;
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

static inline void reprise_gate_leave(void)
{
	atomic_store_explicit(&reprise_gate_pass.slot->giving, 0, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	reprise_inside--;
}

/*
 * Around a call of the program's that may wait for all work. Waits while the building thread is at
 * work: for milliseconds at most. No lock may be held. While such a call is under way nothing
 * begins to be deferred (lane/enter.c).
 */
void reprise_gate_begin_waiting(void);
void reprise_gate_end_waiting(void);

/*
 * Before a call of which nobody knows what it does, nor when it returns: until this thread says the
 * next word here, for a second at most, it counts as one that gives work and waits.
 */
void reprise_gate_doubt(void);
void reprise_gate_doubt_no_more(void);
bool reprise_gate_is_in_doubt(void); /* whether any thread's call counts so */

/*
 * Whether no other thread is in a call that may wait; waits for that, for so long at most. Of a
 * thread that is in one itself: what it calls then is not kept by others.
 */
bool reprise_gate_alone(uint64_t patience_ns);

/*
 * The building thread's, or of who does its work; one thread at a time, others wait for it. True if
 * no call is waiting, and none begins until reprise_gate_end_work(). If there is one, the word is
 * changed and woken as soon as there is none, and that thread then lets this one go first. In
 * *pause, if it is false, how long to sleep on the word at most; 0: until it is woken. All who work
 * sleep on the same word, or one would be woken in another's place.
 */
bool reprise_gate_begin_work(_Atomic uint32_t *word, uint64_t *pause);
void reprise_gate_end_work(void);

/*
 * Between these two. Closes the gate to the context, and waits until nobody is giving it work, for
 * so long at most; true if it is closed and nobody is. Not by a thread that holds what somebody who
 * is giving work may want.
 */
bool reprise_gate_close(const void *context, uint64_t patience_ns);
void reprise_gate_open(void);

/* After fork, in the child. */
void reprise_gate_reset(void);
