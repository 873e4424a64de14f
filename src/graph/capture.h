/* Capturing ops: the one way in which graphs come to be here. */
#pragma once

#include "graph/graph.h"

/*
 * Captures the graph's ops on the private streams of that side, in order. Op i is incoming[i] where
 * bit i of `changed` is set; `changed` may be NULL. If `nodes` is not NULL it gets the node of each
 * op. Returns NULL if any op was not captured as one node; nothing is left behind then. The
 * thread's capture mode must be relaxed, and the ops' context current.
 *
 * Waits for events become edges. A record is a node, so that whoever looks at the event later finds
 * it recorded by the launch; and so is a last record on each branch but the first (forks.h).
 */
CUgraph reprise_capture(const struct reprise_graph *graph, enum reprise_side side,
                        const struct reprise_op *incoming, const uint64_t *changed,
                        struct reprise_graph_node *nodes);

/* The value of a memset as nodes have it: no more bytes of it than an element has. */
static inline unsigned int reprise_set_value(const struct reprise_call_set *set)
{
	return set->element_bytes < 4 ? set->value & ((1u << set->element_bytes * 8) - 1) : set->value;
}

static inline bool reprise_bit(const uint64_t *bits, unsigned int i)
{
	return (bits[i / 64] >> (i % 64) & 1) != 0;
}
