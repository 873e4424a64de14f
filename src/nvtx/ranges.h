/*
 * The program's NVTX ranges that REPRISE_NVTX_OFF names: which names they are, and whether this
 * thread is within one. Ranges of a push and a pop, which are a thread's own and nest within each
 * domain; not those of a start and an end, which are of the process.
 *
 * A set of names is a word: a bit for each name of the option. Handles are the listener's, or where
 * nobody listens to the program, made here. NULL is the default domain.
 *
 * Any thread. A small lock while handles are noted, none for a push or a pop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "base/lock.h"

/* When Reprise starts: reads the option. */
void reprise_ranges_begin(void);

/* True if the option names any range. */
extern bool reprise_ranges_wanted;

/* A leaf: the handles, and the listener's functions (api/nvtx.c). */
extern struct reprise_lock reprise_ranges_lock;

/* After fork, in the child. */
void reprise_ranges_reset(void);

/* The names that a range with this text may have, whatever its domain. NULL: none. */
uint64_t reprise_ranges_named(const char *text);
uint64_t reprise_ranges_named_wide(const wchar_t *text);

/* The program made a domain, or registered a string, and got the listener's `handle`; NULL: nobody
 * listens. Returns what the program gets instead. */
const void *reprise_ranges_note_domain(const void *handle, const char *name);
const void *reprise_ranges_note_string(const void *handle, uint64_t names);

/* The names that a range with this registered string may have. */
uint64_t reprise_ranges_registered(const void *handle);

/* A wide text in UTF-8, of at most so many bytes with the NUL. Returns `text`. */
const char *reprise_ranges_narrow(const wchar_t *wide, char *text, size_t size);

/* This thread pushes a range that may have these names: true if it was within none, and is now. */
bool reprise_ranges_push(const void *domain, uint64_t names);

/* It pops the domain's innermost range: true if it was within one until now. */
bool reprise_ranges_pop(const void *domain);
