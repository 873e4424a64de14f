/*
 * Which op runs next, and where. Work runs on the thread that enqueues it or waits for it, with the
 * lock held; work that may itself wait (a spinning kernel, a host function) runs on a worker
 * (worker.h).
 */
#pragma once

#include "op.h"

/* An op may run now. */
void sim_schedule_ready(struct sim_op *op);

/* How many ops may run now, and do not. */
size_t sim_schedule_ready_count(void);

/* Called once ops were enqueued: runs what the schedule wants to run at once. */
void sim_schedule_enqueued(void);

/* Returns when the op has finished. NULL counts as finished. */
void sim_schedule_wait(struct sim_op *op);

/* The same, and the host is not said to have waited. */
void sim_schedule_finish(struct sim_op *op);

/* Whether the op has finished. A program that asks again and again gets a yes in the end; who asks
 * in relaxed mode is not the program, for the log. */
bool sim_schedule_query(struct sim_op *op);

/* The same, and the host is not said to know. */
bool sim_schedule_look(struct sim_op *op);

/* A host function of the context's that runs; NULL if none is known to. */
struct sim_op *sim_schedule_function(const struct sim_context *context);

/* Something changed that a waiting thread may wait for: an op has finished or settled, a context is
 * drained. */
void sim_schedule_wake(void);

/* Waits for such a change, but not for long. */
void sim_schedule_pause(void);
