/*
 * REPRISE=verify: replays as `on` does, and checks everything. A second copy of each answered call
 * is kept, made by code that following and patching do not use. Before a graph is launched, each op
 * of the trace and each node as it was set (graph/shadow.h) is compared with that copy. Before a
 * side exit issues an op, the op is compared, too. After each launch the stream is waited for. At
 * the first difference the program's own calls are issued, and all calls are eager from then on.
 *
 * Under the lane's lock, except the last function.
 */
#pragma once

#include "lane/lane.h"

/* A visit begins. */
void reprise_verify_begin(struct reprise_lane *lane);

/* The call is answered. */
void reprise_verify_ask(struct reprise_lane *lane, const struct reprise_call *call);

/* True if the patched graph of the followed trace equals the program's calls, node by node. */
bool reprise_verify_graph(struct reprise_lane *lane);

/* The op to issue for op i of the followed trace: `op`, or the program's call if they differ. */
const struct reprise_op *reprise_verify_op(struct reprise_lane *lane, unsigned int i,
                                           const struct reprise_op *op);

/* The first difference in words, for the report; "" if there was none. */
const char *reprise_verify_difference(void);

/* After a launch: waits for the stream, and returns the error if there is one. Without any lock. */
CUresult reprise_verify_wait(struct reprise_lane *lane);
