/*
 * The report while the program runs: once a second it is written to where it is to be at the end,
 * by a thread of ours that does little else. So a program that is ended by a signal, by _exit or by
 * execve has one that is a second old at most, and says so ("complete": false). Where in the
 * program its calls stand is not in it: to look that up takes the loader's lock, in which the
 * program may wait for this thread's end, and reads libraries that it may close.
 *
 * No call of the program's waits for it: of the locks that one may want it takes those that are
 * free, for as long as it reads, and holds none of them while it writes.
 */
#pragma once

/* With the first op, if the report goes to a file. */
void reprise_snapshots_begin(void);

/* After fork, in the child: there is no thread. */
void reprise_snapshots_reset(void);
