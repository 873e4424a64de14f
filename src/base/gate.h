/*
 * The gate: every call that gives a device work goes through it, the program's own and those of ours that stand for them. It is open but for the moments
 * in which the building thread makes a call that may wait until a context has nothing to do, and lets nobody else give it work meanwhile
 * (graph/lull.h): did a kernel wait for a launch to come, both would wait for ever.
 *
 * Who goes through is counted, in one of a few places, so that threads do not get in each other's way, and is inside (inside.h) meanwhile: what the
 * driver calls back passes straight through and does not go through the gate once more. A thread that is cancelled in its call is counted no more
 * when it has ended.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "inside.h"
#include "tls.h"

#define REPRISE_GATE_PLACES 16

struct reprise_gate_place {
	_Alignas(64) _Atomic uint32_t going; /* threads that are going through */
};

extern struct reprise_gate_place reprise_gate_places[REPRISE_GATE_PLACES];
extern _Atomic uint32_t reprise_gate_closed; /* also what those who wait sleep on */

/* This thread's. */
struct reprise_gate_pass {
	struct reprise_gate_place *place; /* NULL until it first goes through */
	bool going;
};

extern _Thread_local struct reprise_gate_pass reprise_gate_pass __attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

struct reprise_gate_place *reprise_gate_find_place(void);
void reprise_gate_wait(void);

/* Around a call that gives a device work. Waits while the gate is closed: for milliseconds at most. */
static inline void reprise_gate_enter(void)
{
	struct reprise_gate_place *place = reprise_gate_pass.place;

	if (__builtin_expect(place == NULL, 0))
		place = reprise_gate_find_place();
	reprise_inside++;
	for (;;) {
		atomic_fetch_add(&place->going, 1);
		if (__builtin_expect(atomic_load(&reprise_gate_closed) == 0, 1))
			break;
		atomic_fetch_sub(&place->going, 1);
		reprise_gate_wait();
	}
	reprise_gate_pass.going = true;
}

static inline void reprise_gate_leave(void)
{
	reprise_gate_pass.going = false;
	atomic_fetch_sub_explicit(&reprise_gate_pass.place->going, 1, memory_order_release);
	reprise_inside--;
}

/*
 * The building thread's. Closes the gate and waits until nobody is going through, for so long at most; true if it is closed and nobody is. One thread at
 * a time, and none that holds what somebody who is going through may want.
 */
bool reprise_gate_close(uint64_t patience_ns);
void reprise_gate_open(void);

/* After fork, in the child. */
void reprise_gate_reset(void);
