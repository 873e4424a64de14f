/*
 * Control from outside (`reprise ctl`): on, off, report. Only if REPRISE_CONTROL asks for it, which
 * a program with more rights than its user does not hear of. A thread of ours waits at a socket
 * (peer.h), with all signals masked, and nothing of it is seen by the program: it has a file table
 * of its own.
 */
#pragma once

/* Before the first op: starts the thread if control is asked for. Once in a process. */
void reprise_control_begin(void);

/* After fork, in the child: there is no thread, and nothing that was said to the parent holds. */
void reprise_control_reset(void);
