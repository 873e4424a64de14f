/*
 * What is learnt of the driver and kept, and the program's calls that end or change it.
 *
 * The door of such a call says so before the driver has the call, and again when the driver has
 * returned. What anybody learns meanwhile may be how it was or how it is going to be, so it counts
 * for that moment alone and is not kept. What was learnt before is forgotten when the call begins.
 *
 *     under = reprise_changes_learn(...);   before the driver is asked
 *     ...                                   the driver is asked
 *     kept if `under` is not zero, and good as long as reprise_changes_now() == `under`, or reprise_changes_spared() says so
 *
 * Any thread. Who reads writes nothing and takes no lock; who changes takes a leaf.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

enum reprise_changes {
	REPRISE_CHANGES_MEMORY,    /* what kind of memory an address is, and how far it reaches
	                              (op/memory.h) */
	REPRISE_CHANGES_FUNCTIONS, /* what a handle of a function or kernel is (op/function.h) */
	REPRISE_CHANGES_COUNT
};

#define REPRISE_CHANGES_KEPT \
	64 /* a power of two: of so many changes it is known what they were about */

/* What a change is about: from the first to before the last. Of functions, all. */
struct reprise_changed_range {
	_Atomic uintptr_t first, last;
};

struct reprise_change {
	_Alignas(64) _Atomic uint32_t generation; /* odd, and so never 0 */
	_Atomic uint32_t under_way;               /* calls */
	struct reprise_lock lock;                 /* who writes what follows, and the generation */
	struct reprise_changed_range
		ranges[REPRISE_CHANGES_KEPT]; /* what the change to a generation was about, by its number */
};

extern struct reprise_change reprise_changed[REPRISE_CHANGES_COUNT];

static inline uint32_t reprise_changes_now(enum reprise_changes what)
{
	return atomic_load_explicit(&reprise_changed[what].generation, memory_order_acquire);
}

/* The generation that what is learnt from now on belongs to, or 0 while a change is under way. */
static inline uint32_t reprise_changes_learn(enum reprise_changes what)
{
	uint32_t now = reprise_changes_now(what);

	return atomic_load(&reprise_changed[what].under_way) == 0 ? now : 0;
}

/* Whether no change since the generation `under` was about what lies between the two. False also if
 * that is not known any more. */
bool reprise_changes_spared(enum reprise_changes what, uint32_t under, uintptr_t first,
                            uintptr_t last);

/* Around the driver's call, about everything. A thread that is cancelled between the two has ended
 * its changes when it ends. */
void reprise_changes_begin(enum reprise_changes what);
void reprise_changes_end(enum reprise_changes what);

/* The same, about what lies between the two. */
void reprise_changes_begin_range(enum reprise_changes what, uintptr_t first, uintptr_t last);

/* After fork, in the child: nothing is under way, and nothing is known. */
void reprise_changes_reset(void);
