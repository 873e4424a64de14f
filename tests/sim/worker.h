/* Threads for work that may itself wait: spinning kernels and host functions. They take no signals and end with the process. */
#pragma once

#include "op.h"

/* Runs the op's work, finishes the op, and then what became ready by it. Returns at once. */
void sim_worker_run(struct sim_op *op);

/* Starts a thread. */
void sim_worker_start(void *(*function)(void *), void *argument);

/* On a worker, in work that waits for memory to change: lets the others go on. */
void sim_worker_pause(void);
