/*
 * How a segment is split into traces: small first after the host waited, so that the GPU starts
 * while the host still collects; and never spanning more of the program's own pauses than it pays.
 */
#pragma once

#include "trace/watch.h"

/* What a trace may span at most of a program that is as fast at all its calls. The pause by which
 * the hold limit goes (lane/hold.h) is twice that. */
#define REPRISE_PLAN_EVEN_SPAN_NS 62500u

/* A graph has at most so many host functions, of 56 that a stream has room for. */
#define REPRISE_PLAN_FUNCTIONS 16u

/* How many of these ops, from the first on, one graph may have by that. */
unsigned int reprise_plan_within_functions(const struct reprise_op *ops, unsigned int count);

/* The longest run of ops from `start` on that may have to be one trace, whatever the GPU waits:
 * what joins again all that it forks. At least 1. */
unsigned int reprise_plan_longest(const struct reprise_segment *segment, unsigned int start,
                                  uint64_t hold_ns);

/*
 * How many of the segment's ops, from `start` on, make the next trace. At least 1. `hold_ns`: the
 * hold limit; 0 makes traces of one op. `few`: to launch few graphs is worth more than to launch
 * the first one early.
 */
unsigned int reprise_plan_piece(const struct reprise_segment *segment, unsigned int start,
                                uint64_t hold_ns, bool few);
