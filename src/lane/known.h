/*
 * Handles that ops of a lane may name: events (group/group.h), functions (traces.h). They are
 * written under the lane's lock, and seldom. They are read without it: the driver may keep the
 * lock's holder, and a call with an unknown handle must not wait for that.
 *
 * So no handle is taken for another one, however many there are: the table grows. Only without
 * memory for that, or past REPRISE_KNOWN_MOST, every handle counts as known.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define REPRISE_KNOWN_FIRST 64 /* places of the first table; each next one has twice as many */
#define REPRISE_KNOWN_MOST (UINT32_C(1) << 16) /* places of the last one: 512 KiB */

/* A table that was grown out of stays: somebody may be reading it. */
struct reprise_known_table {
	struct reprise_known_table *larger; /* or NULL */
	uint32_t places;
	_Atomic(uintptr_t) handles[]; /* 0: free */
};

struct reprise_known {
	_Atomic(struct reprise_known_table *) table; /* NULL: the first one */
	struct reprise_known_table *larger;          /* than the first one; or NULL */
	_Atomic(uintptr_t) first[REPRISE_KNOWN_FIRST];
	_Atomic bool all; /* there was no room: every handle counts as known */
};

/* False if no op called before names the handle, which is not NULL. */
bool reprise_knows(const struct reprise_known *known, const void *handle);

/* learn: an op that names the handle comes. unlearn: the handle ends, and nothing names it any
 * more. unlearn_all: no handle is known. Under the lane's lock. */
void reprise_known_learn(struct reprise_known *known, const void *handle);
void reprise_known_unlearn(struct reprise_known *known, const void *handle);
void reprise_known_unlearn_all(struct reprise_known *known);
