/* What has to be arranged once in a process: for fork, for exit, and what belongs to no lane. */
#pragma once

#include <stdint.h>

/*
 * Before the first op: handlers for fork and exit. Registered then and not earlier, so that they run before the driver's own
 * exit handlers. A load and a branch after the first time.
 */
void reprise_process_prepare(void);

/* A call that could be an op came on a stream that has no lane. */
void reprise_process_count_unlaned(void);
unsigned long reprise_process_unlaned(void);

/*
 * At exit: defers nothing any more, and waits, for so long at most, until the hold limit's thread has issued what is deferred. This thread may
 * not: exit can be called by a signal's handler that interrupted it, in the driver or in Reprise.
 */
void reprise_stop_at_exit(uint64_t patience_ns);

/* Why nothing is deferred any more; NULL while Reprise takes part. */
const char *reprise_stopped(void);

/* After fork, in the child. */
void reprise_doors_reset(void);
