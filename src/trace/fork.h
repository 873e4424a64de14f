/*
 * Which ops of a joint lane may be one graph.
 *
 * A graph begins behind what is in the stream that it is launched into, and what comes next in that
 * stream begins behind all of the graph. So the ops from one place to another may be one graph,
 * launched into the stream of the first of them (the origin), if
 *
 *   - every other member begins in it with a wait for an event that was recorded in it, so that
 * everything depends on the first op;
 *   - so is every event that is waited for in it;
 *   - the origin's last op comes behind everything in it, by the program's own events: the forks
 * are joined again;
 *   - and the origin is ordered against the legacy default stream (blocking) if any other member
 * is. That the others are not makes no difference.
 *
 * Then launching it adds no edge and loses none, if before it the origin's stream is behind those
 * of all members that it uses (lane/group/group.h). Ops of one member, with no wait among them, are
 * the simplest case. Pure functions.
 */
#pragma once

#include <stdbool.h>

#include "op/op.h"

/* Whether the ops may be one graph. `blocking`: a bit for each member that is. */
bool reprise_fork_is_closed(const struct reprise_op *ops, unsigned int count, uint8_t blocking);

/*
 * crossed[i] for i below `count`: an event that is recorded before op i is waited for at op i or
 * later. A graph that ends before op i leaves a wait that the next one cannot have.
 */
void reprise_fork_cross(const struct reprise_op *ops, unsigned int count, bool *crossed);

/*
 * How many of the ops, `most` at most, make a graph: the least number from `wanted` on behind which
 * nothing is crossed; failing that, the most that there are. 0 if no graph begins with the first.
 * `crossed` is that of these ops and all that follow, `count` together.
 */
unsigned int reprise_fork_reach(const struct reprise_op *ops, unsigned int most,
                                unsigned int wanted, const bool *crossed, unsigned int count,
                                uint8_t blocking);
