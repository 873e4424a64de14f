/*
 * Reprise's own threads, started in the program's process.
 *
 * They do not inherit what the program gives its own threads: a real-time policy, pinning to
 * processors, floating point traps. A program's thread with these may wait, without a call, for the
 * work of a thread of Reprise's. So these are ordinary threads, and run where the process could run
 * when Reprise started.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Once, when Reprise starts: its threads may run where this thread and the main thread may now. */
void reprise_thread_note_processors(void);

/*
 * Starts a detached thread with all signals masked and a small stack (stack_bytes 0: the default
 * size). Changes nothing of the calling thread. False under a filter that came since Reprise
 * started.
 */
bool reprise_thread_start(void *(*run)(void *), const char *name);
bool reprise_thread_start_with(void *(*run)(void *), const char *name, unsigned int stack_bytes);

/*
 * Waits until every thread that was started has begun, for so long at most. A thread of the C
 * library's ends the process if it is under a filter of system calls by then that refuses rseq(2),
 * which it makes before its function runs.
 */
void reprise_thread_await_begun(uint64_t patience_ns);

/*
 * By a thread of Reprise's: gives it a file table of its own, empty but for stderr if that is kept.
 * In the program's table it would take numbers that the program expects to get, and close files
 * that it did not open; a thread that lists its files would see Reprise's, and a child would
 * inherit them. Being empty, it also keeps no file open that the program closes.
 *
 * False, and no file may be opened, before Linux 5.9 (close_range(2), CLOSE_RANGE_UNSHARE) or where
 * that is forbidden.
 */
bool reprise_thread_own_files(bool keep_stderr);

/* The number of Reprise's threads that have begun and not ended. May be less than what exists. */
unsigned int reprise_thread_count(void);

/* True if a thread of Reprise's might never run: this thread is real-time, and theirs is a single
 * processor, which this thread may keep. (Later changes by the program are not seen.) */
bool reprise_thread_is_alone(void);

/* After fork, in the child: none of these threads exists. */
void reprise_thread_reset(void);

/*
 * ---- filters of system calls (seccomp) that the program has put itself under since Reprise
 * started
 *
 * Nothing tells what a filter does with a call, and it may end the process, whichever thread makes
 * the call. So a thread under such a filter opens, makes and renames no file, loads no library and
 * starts no thread. ----
 */

/* Notes the thread's present state as the initial one. When Reprise starts, and with the first
 * op. */
void reprise_filters_note(void);

/*
 * True if this thread is under a filter and was under none. A filter added to others is not seen:
 * only a file of the kernel's tells their number, and it would have to be opened. Makes a system
 * call (prctl).
 */
bool reprise_filters_came(void);

/* The processor time that all threads of the process have used, in nanoseconds. 0 if filters came:
 * this is a system call. */
uint64_t reprise_processor_ns(void);
