/*
 * A driver that notes the work that it is given, in order, as text:
 *
 *     a7        a kernel of the program's own call, with the value 7; the value 0 is left out
 *     A7        the same of a memset
 *     >e <e     a record of the event e; a wait for it
 *     (a7)      the same, by a call of Reprise's
 *     [a b7]    the launch of a graph with these nodes, as they are now
 *     2:a 2:[a] on stream 2; the others are on stream 1. 0 is the legacy stream
 *     >_ <_     an event of Reprise's own, at the end of a branch
 *     !         behind what it refused
 *
 * Graphs are made of what is captured, so they hold what Reprise put into them. Calls take the time
 * that tests/virtual/costs.h says, on the virtual clock.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* The work of one call. */
struct work {
	char what; /* a kernel's or memset's letter, '>' or '<' */
	CUevent event;
	unsigned int value;
};

extern struct driver {
	unsigned int ops, launches, nodes_set, updates; /* that succeeded */
	uint64_t given_ns;                              /* when it was given work last */
	bool quiet;                                     /* nothing is noted as text */
	/* What it refuses: so many launches of graphs to come, any op of this letter, and whatever
	 * brings a graph to other values. */
	unsigned int refuses_launches;
	char refuses;
	bool refuses_nodes, refuses_updates;
	/* Of the streams, by number: 0 at first, not blocking, and of the context that is current. */
	int priorities[10];
	bool blocking[10];
	CUcontext contexts[10];
	CUcontext current;
	bool busy; /* streams have work */
	/* The GPU takes so long for each op of the program's: one stream's work after another's, and
	 * the host is ahead of it by so much at most. 0: nothing; any time. */
	uint64_t work_ns, ahead_ns;
	uint64_t done_ns;     /* when it will have done all */
	unsigned int queries; /* of streams */
	/* What its calls take, as in tests/virtual/costs.h unless a test says otherwise. */
	uint64_t eager_ns, graph_ns, node_ns, update_ns, query_ns;
} driver;

void driver_install(void);

/* The handles of the program's streams, from 0 to 9, and events, by their letters. */
CUstream driver_stream(unsigned int number);
CUevent driver_event(char letter);

/* The program's own call. */
CUresult driver_takes(const struct work *work, CUstream stream);

/* What it was given since the last time. Valid until the next call. */
const char *driver_saw(void);

/* The same without parentheses and brackets: the work alone, whoever gave it. */
const char *driver_saw_work(void);
