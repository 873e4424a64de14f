/*
 * Host memory that Reprise keeps: traces, and what lanes have watched. Counted and limited as a
 * whole, so that a program with any number of streams and loops pays a bounded price. Past the
 * limit there is no memory, as if the system had none; whoever asks gets along without.
 *
 * Any thread, no lock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reprise_store {
	REPRISE_STORE_WATCHED, /* lanes' tables: half of the memory at most, so that many lanes leave
	                          some */
	REPRISE_STORE_TRACES,  /* for traces, and for what is becoming one */
	REPRISE_STORE_COUNT
};

/* Zeroed memory, or NULL. */
void *reprise_store_take(enum reprise_store store, size_t bytes);
/* Gives it back; NULL is nothing. */
void reprise_store_give(void *memory);

/* After fork, in the child: what the parent keeps is nobody's here, and counts no more. */
void reprise_store_reset(void);

/* Whether so little is left that somebody is turned away, or soon will be. */
bool reprise_store_is_short(void);

/* Bytes: what is kept, the most that ever was, and the limit, which follows REPRISE_MEMORY. */
uint64_t reprise_store_used(void);
uint64_t reprise_store_most(void);
uint64_t reprise_store_limit(void);
