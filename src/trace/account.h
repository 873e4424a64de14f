/* Traces, for the report: the REPRISE_ACCOUNTS_MOST largest one by one, the others summed. Ended
 * traces are included: many programs free what their traces use before they end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "op/name.h"
#include "trace/sequence.h"
#include "trace/trace.h"

#define REPRISE_ACCOUNTS_MOST 32

/* One trace, or several summed. A trace that is made again of the same ops in the same lane goes on
 * with the same account. */
struct reprise_account {
	uint64_t key;
	uint64_t traces;
	unsigned int lane;
	bool live;                      /* the trace still existed when the report was made */
	unsigned int length, any_value; /* ops, and any-value ops */
	uint16_t first, last;           /* the names of its first and last kernel (op/name.h) */
	uint64_t replays;
	uint64_t ops;         /* in its replays */
	uint64_t eager_ticks; /* their cost as eager calls */
	uint64_t node_updates, updates;
	uint64_t host_bytes;  /* of live traces */
	uint64_t graph_nodes; /* of live traces */
	struct reprise_trace_counts counts;
};

struct reprise_accounts {
	struct reprise_account most[REPRISE_ACCOUNTS_MOST];
	struct reprise_sequence sequences[REPRISE_ACCOUNTS_MOST]; /* of `most`: the first trace's */
	unsigned int count;
	struct reprise_account rest;
	/* launches of each kernel in replays */
	uint64_t by_name[REPRISE_NAMES_MOST];
	/* the ops of all accounts by kind */
	uint64_t by_kind[REPRISE_OP_KIND_COUNT];
	uint64_t nodes; /* of all traces, live and ended */
};

/* The trace is about to be freed. Under its lane's lock. */
void reprise_account_ended(const struct reprise_trace *trace, unsigned int lane);

/* Adds a live trace. Under its lane's lock. */
void reprise_account_add(struct reprise_accounts *accounts, const struct reprise_trace *trace,
                         unsigned int lane);

/* Copies the sums over ended traces; live ones can be added. False if the lock is held. */
bool reprise_accounts_read(struct reprise_accounts *accounts);

/* After fork, in the child. */
void reprise_accounts_reset(void);

/* The cost of this op, and of any op of a kind, as an eager call for the program's thread, in
 * ticks: as measured, or else the estimate of REPRISE_COST_eager. */
uint64_t reprise_account_eager_ticks(const struct reprise_op *op);
uint64_t reprise_account_kind_ticks(enum reprise_op_kind kind);
