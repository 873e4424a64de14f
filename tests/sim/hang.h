/*
 * Hangs. A program is stuck when a thread of it waits inside the driver, or a kernel spins, and
 * nothing can change that any more: nothing is ready to run, no call comes in, no op finishes, the
 * memory that the spinning kernels look at stays as it is, and all other threads sleep for good.
 * After a grace of 100 ms of this the process says on stderr who waits for whom and ends with
 * SIM_HANG_STATUS.
 *
 * A thread that computes, or sleeps for a time, may still change something: then the grace is
 * SIM_HANG_MS. So it is for a thread that does nothing but ask whether work has finished.
 */
#pragma once

#include <sys/types.h>

#include "op.h"

#define SIM_HANG_STATUS 86

/* A thread that waits inside the driver; on its stack. */
struct sim_waiter {
	uint64_t thread; /* sim_self's id */
	pid_t tid;
	const char *call; /* the entry point */
	struct sim_op *op;
	const struct sim_context
		*context; /* unless it waits for an op: what another thread's call drains */
	struct sim_waiter *next;
};

/* The calling thread waits from now on, and until sim_hang_waited: for an op, or for the call that
 * drains a context. */
void sim_hang_wait(struct sim_waiter *waiter, struct sim_op *op);
void sim_hang_wait_behind(struct sim_waiter *waiter, const struct sim_context *context);
void sim_hang_waited(struct sim_waiter *waiter);

/* A spinning kernel has paused for the first time. */
void sim_hang_suspect(void);

/* A call in progress only asked whether work has finished, and it has not. */
void sim_hang_polled(void);
