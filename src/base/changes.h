/*
 * Cached answers of the driver, and the program's calls that invalidate them.
 *
 * The door of such a call reports the change before the driver gets the call, and again after the
 * driver returned. An answer obtained in between may be the old one or the new one: it is used once
 * and not cached. Older answers become invalid when the call begins.
 *
 *     under = reprise_changes_learn(...);   before asking the driver
 *     ...                                   ask the driver
 *     cache the answer if `under` is not 0; it is valid while reprise_changes_now() == `under`,
 *     or while reprise_changes_spared() is true
 *
 * Any thread. Readers write nothing and take no lock. Writers take a leaf lock.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

enum reprise_changes {
	REPRISE_CHANGES_MEMORY,    /* the kind and extent of memory (op/memory.h) */
	REPRISE_CHANGES_FUNCTIONS, /* the meaning of function and kernel handles (op/function.h) */
	REPRISE_CHANGES_COUNT
};

/* The ranges of this many latest changes are kept. A power of two. */
#define REPRISE_CHANGES_KEPT 64

/* The addresses that a change is about: from `first` to before `last`. A change of functions is
 * about all. */
struct reprise_changed_range {
	_Atomic uintptr_t first, last;
};

struct reprise_change {
	_Alignas(64) _Atomic uint32_t generation; /* always odd, so never 0 */
	_Atomic uint32_t under_way;               /* calls under way */
	struct reprise_lock lock;                 /* for writing what follows, and the generation */
	/* The range of the change to each generation, by its number. */
	struct reprise_changed_range ranges[REPRISE_CHANGES_KEPT];
};

extern struct reprise_change reprise_changed[REPRISE_CHANGES_COUNT];

static inline uint32_t reprise_changes_now(enum reprise_changes what)
{
	return atomic_load_explicit(&reprise_changed[what].generation, memory_order_acquire);
}

/* The generation that answers belong to from now on; 0 while a change is under way. */
static inline uint32_t reprise_changes_learn(enum reprise_changes what)
{
	uint32_t now = reprise_changes_now(what);

	return atomic_load(&reprise_changed[what].under_way) == 0 ? now : 0;
}

/* True if no change since generation `under` touched the addresses from `first` to before `last`.
 * False, too, if that is no longer known. */
bool reprise_changes_spared(enum reprise_changes what, uint32_t under, uintptr_t first,
                            uintptr_t last);

/* Around the driver's call. The change is about everything. If the thread is cancelled in between,
 * its changes end with it. */
void reprise_changes_begin(enum reprise_changes what);
void reprise_changes_end(enum reprise_changes what);

/* As reprise_changes_begin(), about the addresses from `first` to before `last`. */
void reprise_changes_begin_range(enum reprise_changes what, uintptr_t first, uintptr_t last);

/* After fork, in the child: no change is under way, and all cached answers are invalid. */
void reprise_changes_reset(void);
