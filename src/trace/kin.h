/*
 * Kin: traces of the same kernels, copies and memsets in the same order, which differ in values and
 * sizes. A program whose shapes change makes ever new ones, and each graph that is built keeps its
 * calls waiting. So kin pay for each other, by rent or buy: what building a graph costs is spent,
 * and what the kin save by their replays, and would have saved by visits for which there was no
 * graph, is earned. Where too little was earned, no graph is built.
 *
 * Traces with any-value ops are not counted: one of them stands for all values.
 *
 * A table of each lane, under its lock. A row that other kin take over forgets what they had.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"

#define REPRISE_KIN_ROWS 128

struct reprise_index;
struct reprise_trace;

struct reprise_kin_table {
	struct reprise_kin {
		uint64_t kin;
		int64_t saved_ns; /* that can be spent on graphs */
	} rows[REPRISE_KIN_ROWS];
};

/* What all traces that are kin have in common, as a hash; 0: an op is any-value. */
uint64_t reprise_kin_of(const struct reprise_op *ops, const bool *any_value, unsigned int count);

/* These ops came again, without a trace of theirs: they are a visit of their kin. True if a graph
 * may be built for them; it is spent then. */
bool reprise_kin_take_build(struct reprise_kin_table *table, const struct reprise_index *index,
                            uint64_t kin, const struct reprise_op *ops, unsigned int count);

/* The trace is about to end: what it has saved is its kin's. */
void reprise_kin_ended(struct reprise_kin_table *table, struct reprise_trace *trace);
