/* How a segment is split into traces: short ones after a wait, so that the GPU starts while the
 * host still collects; and none that spans longer gaps of the program than it pays. */
#pragma once

#include "trace/watch.h"

/* How many of these ops, from the first on, one graph may have by the limit on host functions. */
unsigned int reprise_plan_within_functions(const struct reprise_op *ops, unsigned int count);

/* The longest run of ops from `start` on that may be one trace if a fork needs it, even if the GPU
 * waits meanwhile. At least 1. */
unsigned int reprise_plan_longest(const struct reprise_segment *segment, unsigned int start,
                                  uint64_t hold_ns);

/* How many of the segment's ops from `start` on make the next trace. At least 1. `hold_ns`: the
 * hold limit; 0 makes traces of one op. `few`: few launches matter more than an early first one. */
unsigned int reprise_plan_piece(const struct reprise_segment *segment, unsigned int start,
                                uint64_t hold_ns, bool few);
