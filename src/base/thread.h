/*
 * Threads of ours: how one is started in somebody else's process.
 *
 * What the program gives its own threads is not for ours: a real-time policy, the processors that
 * one thread is pinned to, floating point traps. Such a thread may wait, without a call, for what a
 * thread of ours has to do. So ours are ordinary threads, and run where the process might when
 * Reprise started.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Once, when Reprise starts: ours may run where this thread and the main thread may now. */
void reprise_thread_note_processors(void);

/*
 * Detached, all signals masked, a small stack (or for stack_bytes 0 what the program's own threads
 * have). Changes nothing of the calling thread's. Not in one that the program has locked in since
 * the first op (filters.h).
 */
bool reprise_thread_start(void *(*run)(void *), const char *name);
bool reprise_thread_start_with(void *(*run)(void *), const char *name, unsigned int stack_bytes);

/*
 * By a thread of ours: its files are in a table of its own from now on, which is empty, but for
 * stderr if that is kept. In the program's, it would find a number taken that it expects to get, or
 * close what it did not open; one that looks at its files would see ours, and a child inherit them.
 * And here nothing is kept open that other threads close. False, and nothing is to be opened, where
 * there can be none: before Linux 5.9 (close_range(2), CLOSE_RANGE_UNSHARE), or where that is
 * forbidden.
 */
bool reprise_thread_own_files(bool keep_stderr);

/* How many of ours there are, or fewer: those that have begun and not ended. */
unsigned int reprise_thread_ours(void);

/*
 * True if a thread of ours might never run: this one is real-time, and ours have one processor,
 * which it may keep to itself. (What becomes of the program's threads later is not seen.)
 */
bool reprise_thread_is_alone(void);

/* After fork, in the child: none of ours is there. */
void reprise_thread_reset(void);
