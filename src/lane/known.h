/*
 * Handles that ops of a lane may name: events (joint.h), functions (traces.h). They are written
 * under the lane's lock, a few times, and read without it: the driver may keep who has it, and
 * whoever uses a handle that is none of the lane's has nothing to do with that.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define REPRISE_KNOWN_MOST 64

struct reprise_known {
	_Atomic(uintptr_t) handles[REPRISE_KNOWN_MOST]; /* by their hash, up to the first that is 0 */
	_Atomic bool all; /* there was no room for one: any may be known */
};

/* False: no op that was called before names it. */
bool reprise_knows(const struct reprise_known *known, const void *handle);

/* An op that names it comes. It ends, and nothing names it any more. None is known. */
void reprise_known_learn(struct reprise_known *known, const void *handle);
void reprise_known_unlearn(struct reprise_known *known, const void *handle);
void reprise_known_unlearn_all(struct reprise_known *known);
