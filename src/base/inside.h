/*
 * Whether this thread is inside Reprise: non-zero while it holds one of Reprise's locks, and while
 * Reprise itself calls the driver or the loader. A door that is reached then (from a callback, from
 * a constructor that dlopen runs, from a signal's handler that interrupted Reprise) passes straight
 * through, and so never waits for a lock that its own thread holds.
 *
 * A depth, not a flag: whoever adds one takes it off again on every way out.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "base/tls.h"

extern _Thread_local int reprise_inside
	__attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

/* The depth of a thread of ours, which never leaves. */
#define REPRISE_INSIDE_FOR_GOOD (1 << 20)

/* Whether this is one of the program's threads, whose time is the program's. */
static inline bool reprise_is_programs_thread(void)
{
	return reprise_inside < REPRISE_INSIDE_FOR_GOOD;
}

/*
 * Around calls of ours to the driver: they may have cancellation points, and a thread that was
 * cancelled in one would take what it holds with it. Returns what reprise_leave() is to be given.
 */
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
