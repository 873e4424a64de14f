/*
 * Control from outside (`reprise ctl`): on, off, report. Only if REPRISE_CONTROL asks for it;
 * programs with more rights than their user ignore it. The control thread waits at a socket
 * (peer.h), with all signals masked. The program does not see the socket: the thread has a file
 * table of its own.
 */
#pragma once

/* Before the first op: starts the thread if control is asked for. Once in a process. */
void reprise_control_begin(void);

/* After fork, in the child: there is no thread, and commands to the parent do not count. */
void reprise_control_reset(void);
