/* Capturing ops: all graphs are made this way. */
#pragma once

#include "graph/graph.h"

/*
 * Captures the graph's ops in order on the capture streams of `side`. Op i is incoming[i] where bit
 * i of `changed` is set; `changed` may be NULL. `nodes`, if not NULL, gets the node of each op. For
 * building, an op that exceeds its kernel's limit of shared memory is captured with the limit.
 * NULL if an op did not become exactly one node; nothing is left behind then. The thread's capture
 * mode must be relaxed, and the ops' context current.
 *
 * Waits become edges. A record becomes a node, so that the launch records the event for later waits
 * and queries. Each branch but the first ends in a record node of its own (graph/graph.h).
 */
CUgraph reprise_capture(const struct reprise_graph *graph, enum reprise_side side,
                        const struct reprise_op *incoming, const uint64_t *changed,
                        struct reprise_graph_node *nodes);

/* The value of a memset as nodes have it: truncated to the element's size. */
static inline unsigned int reprise_set_value(const struct reprise_call_set *set)
{
	return set->element_bytes < 4 ? set->value & ((1u << set->element_bytes * 8) - 1) : set->value;
}

static inline bool reprise_bit(const uint64_t *bits, unsigned int i)
{
	return (bits[i / 64] >> (i % 64) & 1) != 0;
}
