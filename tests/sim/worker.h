/* Threads for work that may itself wait: spinning kernels and host functions. They take no signals
 * and end with the process. */
#pragma once

#include <sys/types.h>

#include "op.h"

/* A thread of the simulation's own. */
struct sim_worker {
	pid_t tid;
	struct sim_op *op; /* whose work it runs, or NULL */
	uint64_t seen;     /* calls and time at its last pause */
	long nap_ns;
	unsigned long pauses; /* of all its ops */
	unsigned long
		pauses_when_still; /* the hang detection's: how many there were when something moved last */
	struct sim_worker *next;
};

struct sim_worker *sim_workers(void);

/* How many ops were handed to workers that have not begun with them. */
size_t sim_workers_due(void);

/* Runs the op's work, finishes the op, and then what became ready by it. Returns at once. */
void sim_worker_run(struct sim_op *op);

/* Starts a thread of the simulation's own. */
void sim_worker_start(void *(*function)(void *), void *argument);

/* On a worker, in work that waits for memory to change: lets the others go on. */
void sim_worker_pause(void);
