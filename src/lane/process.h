/* What has to be arranged once in a process: for fork, for exit, and what belongs to no lane. */
#pragma once

/*
 * Before the first op: handlers for fork and exit. Registered then and not earlier, so that they run before the driver's own
 * exit handlers. A load and a branch after the first time.
 */
void reprise_process_prepare(void);

/* A call that could be an op came on a stream that has no lane. */
void reprise_process_count_unlaned(void);
unsigned long reprise_process_unlaned(void);
