/*
 * Whether the program has locked itself in, by a filter of system calls (seccomp), since Reprise
 * has what it needs. Nobody can ask a filter what it does with a call, and one that ends the
 * process does so whoever makes the call. So a thread that finds itself under a filter that came
 * later opens, makes and renames no file, loads no library and starts no thread.
 */
#pragma once

#include <stdbool.h>

/* What this thread is under now was there before: when Reprise starts, and with the first op. */
void reprise_filters_note(void);

/*
 * True if this thread is under a filter, and there was none. One that was added to others is not
 * seen: only a file of the kernel's tells how many there are, and that would have to be opened. A
 * system call (prctl).
 */
bool reprise_filters_came(void);
