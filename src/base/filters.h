/*
 * Tells whether the program has put itself under a filter of system calls (seccomp) since Reprise
 * started. Nothing tells what a filter does with a call, and it may end the process, whichever
 * thread makes the call. So a thread under such a filter opens, makes and renames no file, loads no
 * library and starts no thread.
 */
#pragma once

#include <stdbool.h>

/* Notes the thread's present state as the initial one. When Reprise starts, and with the first
 * op. */
void reprise_filters_note(void);

/*
 * True if this thread is under a filter and was under none. A filter added to others is not seen:
 * only a file of the kernel's tells their number, and it would have to be opened. Makes a system
 * call (prctl).
 */
bool reprise_filters_came(void);
