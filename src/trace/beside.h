/*
 * Which ops of a stream group may be one graph that is launched beside their streams, into a stream
 * of Reprise's (lane/group/group.h), where they are not closed (trace/fork.h).
 *
 * Such a graph begins behind all that its members' streams have, and the next work on each stream
 * begins behind the member's own branch. So the launch adds no edge and loses none if each member
 * begins with a wait for an event recorded in the run, or is a root: by the host's waits, and by
 * the waits with which it begins for events recorded before the run, it is behind all that the
 * members have, as the other roots are. Such a wait makes no edge in the graph. Pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"
#include "op/op.h"

#define REPRISE_BESIDE_LEADING_MOST 56 /* eight members that each wait for all others */

struct reprise_beside {
	uint8_t roots; /* a bit for each */
	/* the members of which all ops come before each member's end */
	uint8_t ends[REPRISE_MEMBERS_MOST];
	/* the waits with which roots begin */
	uint8_t leading_count;
	uint16_t leading[REPRISE_BESIDE_LEADING_MOST];
	/* of each op: a record: the members of which all ops come before it; a wait: 1 if the event is
	 * recorded before the run */
	uint8_t *behind;
};

/* True if they may be, as far as the ops tell. `blocking`: a bit for each blocking member; the
 * stream that the graph is launched into is as the group's first member is. */
bool reprise_beside_may(const struct reprise_op *ops, unsigned int count, uint8_t blocking);

/* True if every wait of the `count` ops from `start` on is for an event that an earlier one of all
 * ops has recorded, or of which it is known what comes before it. */
bool reprise_beside_knows(const struct reprise_op *ops, unsigned int start, unsigned int count);

/* Of ops that may be. Writes `behind` as well, which has room for all. */
void reprise_beside_describe(const struct reprise_op *ops, unsigned int count,
                             struct reprise_beside *beside);

/* For each of the ops: begins[i] is true if a graph of all that comes from it on could begin there.
 * `start`: of each member, the members of which it is behind all at the first op, itself included.
 * NULL: as if all of them, and all events that are recorded before, were behind all. */
void reprise_beside_begins(const struct reprise_op *ops, unsigned int count, const uint8_t *start,
                           bool *begins);
