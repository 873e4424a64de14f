/*
 * Which ops of a stream group may be one graph.
 *
 * A graph runs after all earlier work of the stream that it is launched into, and before all later
 * work of that stream. So a run of ops may be one graph, launched into the stream of its first op
 * (the origin), if
 *
 *   - every other member begins with a wait for an event recorded in the run, so that all ops
 *     depend on the first one;
 *   - every wait in the run is for an event recorded in the run;
 *   - the origin's last op comes after all other ops by the program's events: the forks join again;
 *   - the origin is ordered against the legacy default stream (blocking) if another member is.
 *
 * Then the launch adds no edge and loses none, if the origin's stream first waits for the streams
 * of all members used (lane/group/group.h). Ops of one member without waits are the simplest case.
 * Pure functions.
 */
#pragma once

#include <stdbool.h>

#include "op/op.h"

/* True if the ops may be one graph. `blocking`: a bit for each blocking member. */
bool reprise_fork_is_closed(const struct reprise_op *ops, unsigned int count, uint8_t blocking);

/* True if the ops are on several members. */
bool reprise_fork_in(const struct reprise_op *ops, unsigned int count);

/* For i below `count`: crossed[i] is true if an event recorded before op i is waited for at op i or
 * later. A graph that ends before op i leaves a wait that the next graph cannot contain. */
void reprise_fork_cross(const struct reprise_op *ops, unsigned int count, bool *crossed);

/* How many of the first `most` ops make a graph: the least number, at least `wanted`, at whose end
 * nothing is crossed; failing that, the largest. 0 if no graph begins with the first op. `crossed`
 * covers all `count` ops from the first one on. */
unsigned int reprise_fork_reach(const struct reprise_op *ops, unsigned int most,
                                unsigned int wanted, const bool *crossed, unsigned int count,
                                uint8_t blocking);
