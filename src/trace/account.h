/*
 * What is told of traces: the biggest ones each for itself, a bounded number, and the others
 * summed. Traces that ended are in it too, since many programs end what their traces name before
 * they end themselves.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "op/name.h"
#include "trace/trace.h"

#define REPRISE_ACCOUNTS_MOST 32

/* One trace, or several summed. A trace that was made again, of the same ops in the same lane, is
 * one with the one before. */
struct reprise_account {
	uint64_t key;
	uint64_t traces;
	unsigned int lane;
	bool live;                      /* it was there when it was asked for */
	unsigned int length, any_value; /* ops, and those that may have any values */
	uint16_t first, last;           /* the names of its first and last kernel (op/name.h) */
	uint64_t replays;
	uint64_t ops;         /* that its replays stood for, absent ones not counted */
	uint64_t eager_ticks; /* what these would have cost by themselves */
	uint64_t node_updates, updates, toggles;
	uint64_t host_bytes;  /* of those that live */
	uint64_t graph_nodes; /* likewise */
	struct reprise_trace_counts counts;
};

struct reprise_accounts {
	struct reprise_account most[REPRISE_ACCOUNTS_MOST];
	unsigned int count;
	struct reprise_account rest;
	uint64_t by_name[REPRISE_NAMES_MOST]; /* launches of each kernel that were replayed; absent ones
	                                         are counted, too */
	uint64_t by_kind[REPRISE_OP_KIND_COUNT]; /* the ops of all accounts, by kind; what a division
	                                            leaves over is not in it */
	uint64_t nodes;                          /* of all traces ever */
};

/* The trace is about to go. Under its lane's lock. */
void reprise_account_ended(const struct reprise_trace *trace, unsigned int lane);

/* Adds a trace that lives. Under its lane's lock. */
void reprise_account_add(struct reprise_accounts *accounts, const struct reprise_trace *trace,
                         unsigned int lane);

/* Copies what is known of traces that ended, to which those that live can be added. False if a
 * thread is just at it. */
bool reprise_accounts_read(struct reprise_accounts *accounts);

/* After fork, in the child. */
void reprise_accounts_reset(void);

/* What an op of that kind costs the program's thread eagerly, in ticks: as measured, or else as an
 * H200 took. */
uint64_t reprise_account_eager_ticks(enum reprise_op_kind kind);
