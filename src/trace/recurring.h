/*
 * Values that come again: what the visits of a trace bring to its any-value ops, as a hash. A trace
 * takes any values where they were new at each visit for a while. If they come from a set
 * nevertheless, such as the sizes of eight buckets or a few buffers by turns, a graph of its own
 * for each saves what setting the nodes costs.
 *
 * Under the lane's lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPRISE_RECURRING_VALUES 16

/* All zero at first. */
struct reprise_recurring {
	struct {
		uint64_t values;
		uint64_t spent_ns; /* on setting nodes to them, since they came first */
	} seen[REPRISE_RECURRING_VALUES];
	uint8_t oldest; /* in `seen`: the next to go */
	uint8_t skipped;
	uint16_t misses; /* visits in a row with values that are not in `seen` */
};

/* Counts a visit. True if it is to be noted: all are, but where values hardly come again only some,
 * since making the hash takes a while. */
bool reprise_recurring_is_due(struct reprise_recurring *recurring);

/* Notes a visit with these values, whose nodes took so long to set. True if more was spent on these
 * values than a graph costs; it is forgotten then. */
bool reprise_recurring_note(struct reprise_recurring *recurring, uint64_t values, uint64_t set_ns,
                            uint64_t price_ns);
