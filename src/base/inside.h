/*
 * Non-zero while this thread is inside Reprise: while it holds one of Reprise's locks, or while
 * Reprise itself calls the driver or the loader. A door reached then passes straight through (from
 * a callback, a constructor that dlopen runs, or a signal handler that interrupted Reprise). So it
 * never waits for a lock that its own thread holds.
 *
 * A depth, not a flag. Code that adds one takes it off again on every way out.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "base/placement.h"

extern _Thread_local int reprise_inside
	__attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

/* The depth of Reprise's own threads, which never leave. */
#define REPRISE_INSIDE_FOR_GOOD (1 << 20)

/* True on the program's threads, whose time is the program's. */
static inline bool reprise_is_programs_thread(void)
{
	return reprise_inside < REPRISE_INSIDE_FOR_GOOD;
}

/* Around Reprise's own driver calls. They may have cancellation points, and a thread cancelled in
 * one would leave its locks held. Returns the argument for reprise_leave(). */
static inline int reprise_enter(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	reprise_inside++;
	return before;
}

static inline void reprise_leave(int before)
{
	reprise_inside--;
	pthread_setcancelstate(before, NULL);
}
