/*
 * REPRISE=verify: replays as `on` does, but trusts nothing. Of each call that is answered a second
 * copy is kept, made by nothing that following and patching use. Before a graph is launched, and
 * before a side exit issues an op, what Reprise made of the call is compared with that copy, and
 * what the graph's node was given too (graph/shadow.h). After each launch the stream is waited for.
 * At the first difference the program's own calls are issued, and everything is eager from then on.
 *
 * All under the lane's lock, but the last.
 */
#pragma once

#include "lane/lane.h"

/* A visit begins. */
void reprise_verify_begin(struct reprise_lane *lane);

/* The call is answered. */
void reprise_verify_ask(struct reprise_lane *lane, const struct reprise_call *call);

/* Whether the patched graph of the followed trace has what was asked, node by node. */
bool reprise_verify_graph(struct reprise_lane *lane);

/* What is to be issued for op i of the followed trace, which came: `op`, or what the program asked
 * instead. */
const struct reprise_op *reprise_verify_op(struct reprise_lane *lane, unsigned int i,
                                           const struct reprise_op *op);

/* The first difference in words, for the report; "" if there was none. */
const char *reprise_verify_difference(void);

/* After a launch: waits for the stream. Returns the error, if one came of it. Without any lock. */
CUresult reprise_verify_wait(struct reprise_lane *lane);
