/*
 * The report thread: once a second it writes the report to the file for the final one. So a program
 * that ends by a signal, by _exit or by execve has a report that is at most a second old and says
 * so ("complete": false). The callers of call sites are left out: looking them up takes the
 * loader's lock, which the program may hold while it waits for this thread's end, and reads
 * libraries that the program may close.
 *
 * No call of the program waits for the thread: it only tries the locks that a call may want, and
 * holds none of them while it writes.
 */
#pragma once

/* At the first op, if the report goes to a file. */
void reprise_snapshots_begin(void);

/* After fork, in the child: there is no thread. */
void reprise_snapshots_reset(void);
