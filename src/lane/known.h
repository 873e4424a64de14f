/* Handles that ops of a lane may name: events (group/group.h), functions (traces.h). They are
 * written under the lane's lock, and seldom. They are read without it: the driver may keep the
 * lock's holder, and a call with an unknown handle must not wait for that. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define REPRISE_KNOWN_MOST 64

struct reprise_known {
	_Atomic(uintptr_t) handles[REPRISE_KNOWN_MOST]; /* open addressing by hash; 0 ends a search */
	_Atomic bool all; /* there was no room: every handle counts as known */
};

/* False if no op called before names the handle. */
bool reprise_knows(const struct reprise_known *known, const void *handle);

/* learn: an op that names the handle comes. unlearn: the handle ends, and nothing names it any
 * more. unlearn_all: no handle is known. Under the lane's lock. */
void reprise_known_learn(struct reprise_known *known, const void *handle);
void reprise_known_unlearn(struct reprise_known *known, const void *handle);
void reprise_known_unlearn_all(struct reprise_known *known);
