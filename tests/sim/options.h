/* What the environment says, read once at the first call. tests/sim/README.md describes the
 * options. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_schedule {
	SIM_EAGER,  /* an op runs as soon as what it depends on has finished */
	SIM_LAZY,   /* an op runs when something waits for it */
	SIM_RANDOM, /* any op that may run, at any time */
	SIM_LAST,   /* of the ops that may run, the one enqueued last; none before something waits */
};

struct sim_options {
	int devices;       /* SIM_DEVICES */
	size_t memory;     /* SIM_MEMORY, bytes of each device */
	size_t node_bytes; /* SIM_NODE_BYTES, what an executable graph takes of that for each kernel
	                      node */
	size_t graph_room; /* SIM_GRAPH_ROOM, what a context's two heaps for executable graphs have at
	                      first, each */
	size_t pending;    /* SIM_PENDING, launches that a stream has room for; 0: any number */
	size_t functions;  /* SIM_FUNCTIONS, host functions with work behind them that a stream has room
	                      for; 0: any number */
	enum sim_schedule schedule; /* SIM_SCHEDULE */
	uint64_t seed;
	unsigned int patience_ms; /* SIM_PATIENCE: work that nothing waits for starts after the program
	                             was away for so long */
	unsigned int hang_ms; /* SIM_HANG_MS: a hang is given so long where threads are not asleep for
	                         good; 0: none is looked for */
	const char *log;      /* SIM_LOG */
	bool log_calls;       /* SIM_LOG_CALLS */
	const char *stats;    /* SIM_STATS */
	const char *left;     /* SIM_LEFT */
	const char *fault;    /* SIM_FAULT */
	const char *slow;     /* SIM_SLOW */
	bool newer;           /* SIM_NEWER */
	struct sim_pace {
		uint64_t start, launch, node;
	} pace; /* SIM_PACE, ns: of work for a GPU that is idle, of a kernel, of one in a graph */
};

void sim_options_read(void);
const struct sim_options *sim_options(void);
