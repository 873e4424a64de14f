/* What has to be arranged once in a process: for fork, for exit, and what belongs to no lane. */
#pragma once

/* Before Reprise starts, by each thread that finds it not started: what is to be done in a forked
 * child. */
void reprise_process_watch_forks(void);

/*
 * Before the first op: the handler for exit, and all threads of ours. Registered then and not
 * earlier, so that it runs before the driver's own exit handlers. A load and a branch after the
 * first time.
 */
void reprise_process_prepare(void);
