/*
 * The gate: every call that gives a device work goes through it, the program's own and those of ours that stand for them. It is open but for the moments
 * in which the building thread makes a call that may wait until a context has nothing to do, and lets nobody else give it work meanwhile
 * (graph/lull.h): did a kernel wait for a launch to come, both would wait for ever.
 *
 * Who goes through is counted, in one of a few places, so that threads do not get in each other's way. Not nested: a door that is reached from within
 * the driver, or from Reprise itself, is inside (inside.h) and does not go through.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "thread.h"

#define REPRISE_GATE_PLACES 16

struct reprise_gate_place {
	_Alignas(64) _Atomic uint32_t going; /* threads that are going through */
};

extern struct reprise_gate_place reprise_gate_places[REPRISE_GATE_PLACES];
extern _Atomic uint32_t reprise_gate_closed; /* also what those who wait sleep on */

void reprise_gate_wait(void);

static inline struct reprise_gate_place *reprise_gate_place(void)
{
	return &reprise_gate_places[reprise_thread_self() % REPRISE_GATE_PLACES];
}

/* Around a call that gives a device work. Waits while the gate is closed: for milliseconds at most. */
static inline void reprise_gate_enter(void)
{
	struct reprise_gate_place *place = reprise_gate_place();

	for (;;) {
		atomic_fetch_add(&place->going, 1);
		if (__builtin_expect(atomic_load(&reprise_gate_closed) == 0, 1))
			return;
		atomic_fetch_sub(&place->going, 1);
		reprise_gate_wait();
	}
}

static inline void reprise_gate_leave(void)
{
	atomic_fetch_sub_explicit(&reprise_gate_place()->going, 1, memory_order_release);
}

/*
 * The building thread's. Closes the gate and waits until nobody is going through, for so long at most; true if it is closed and nobody is. One thread at
 * a time, and none that holds what somebody who is going through may want.
 */
bool reprise_gate_close(uint64_t patience_ns);
void reprise_gate_open(void);

/* After fork, in the child. */
void reprise_gate_reset(void);
