/* Capturing ops: the one way in which graphs come to be here. */
#pragma once

#include "graph.h"

/*
 * Captures `count` ops on the private stream, in order. Op i is incoming[i] where bit i of `changed` is set; `changed` may
 * be NULL. If `nodes` is not NULL it gets the node of each op. Returns NULL if any op was not captured as one node; nothing
 * is left behind then. The thread's capture mode must be relaxed, and the ops' context current.
 */
CUgraph reprise_capture(CUstream stream, const struct reprise_op *ops, const struct reprise_op *incoming, const uint64_t *changed,
                        unsigned int count, struct reprise_graph_node *nodes);

static inline bool reprise_bit(const uint64_t *bits, unsigned int i)
{
	return (bits[i / 64] >> (i % 64) & 1) != 0;
}
