/* What doors share. */
#pragma once

#include <stdatomic.h>

#include "entry/entry.h"
#include "entry_points.h"

/* Tells the lane of a call that orders the stream, as generic doors do. Costs one read while
 * nothing is deferred. */
static inline void reprise_door_order(CUstream stream, bool per_thread)
{
	if (atomic_load_explicit(&reprise_attention, memory_order_relaxed) != 0)
		reprise_order(stream, per_thread);
}

/* ---- spare doors, for functions of the driver that the table of entry points does not have: an
 * unknown function is a barrier (invariant 8) ---- */

/* Gives `address`, a function of that name, a spare door and returns its entry. If none is left,
 * nothing is deferred from then on, and REPRISE_DOOR_COUNT is returned. Any thread, no lock. */
unsigned int reprise_spare_take(const char *name, void *address);

/* Tells the inner rooms of a call through the spare door of `entry`. */
void reprise_spare_tell(unsigned int entry);

/* ---- the attributes last set for each function (attributes.c) ---- */

/* After this, the next setting of anything counts as a change. Any thread. */
void reprise_attributes_forget(void);

/* ---- for the doors in C ---- */

/* Lists in parentheses, for macros that pass them on. */
#define PARAMETERS(...) (__VA_ARGS__)
#define ARGUMENTS(...) (__VA_ARGS__)

/* The driver's function behind a C door. */
#define REPRISE_REAL(name) ((__typeof__(&name))reprise_real[REPRISE_ENTRY_##name])
