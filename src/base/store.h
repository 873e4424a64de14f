/*
 * The host memory that Reprise keeps: traces, and what lanes have watched. It is counted and
 * limited as a whole (invariant 9). Past the limit, requests fail as if the system had no memory,
 * and callers do without.
 *
 * Any thread, no lock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reprise_store {
	/* Tables of lanes. Half of the memory at most, so that many lanes leave some for traces. */
	REPRISE_STORE_WATCHED,
	REPRISE_STORE_TRACES, /* traces, also unfinished ones */
	REPRISE_STORE_COUNT
};

/* Zeroed memory, or NULL. */
void *reprise_store_take(enum reprise_store store, size_t bytes);
/* Gives it back. NULL is allowed. */
void reprise_store_give(void *memory);

/* After fork, in the child: the parent's memory no longer counts. */
void reprise_store_reset(void);

/* True if so little is left that requests fail, or soon will. */
bool reprise_store_is_short(void);
/* True if that is so of the limit for all, not only of the watched half of it: traces that go make
 * room. */
bool reprise_store_wants_traces(void);

/* Bytes: kept now, the most ever kept, and the limit, which follows REPRISE_MEMORY. */
uint64_t reprise_store_used(void);
uint64_t reprise_store_most(void);
uint64_t reprise_store_limit(void);
