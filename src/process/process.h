/* Steps that happen once in a process: the start, the preparation for the first op, the end; and
 * the reset in a forked child. */
#pragma once

#include <stdatomic.h>

#include "base/options.h"

/* Decides whether Reprise is active; every door calls it first. The first call reads the options (a
 * few hundred microseconds); later ones cost a load and a branch. Returns the mode. Thread-safe.
 * Must not be called from a constructor (invariant 10). */
enum reprise_mode reprise_start(void);

extern _Atomic int reprise_process_prepared;

/* The rest of reprise_process_prepare(). */
void reprise_process_prepare_once(void);

/* Before the first op: registers the exit handler and starts all threads of Reprise's. Not earlier,
 * so that the handler runs before the driver's own. A load and a branch after the first time. */
static inline void reprise_process_prepare(void)
{
	if (__builtin_expect(atomic_load_explicit(&reprise_process_prepared, memory_order_relaxed) == 0,
	                     0))
		reprise_process_prepare_once();
}
