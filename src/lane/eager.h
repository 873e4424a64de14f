/*
 * Whether Reprise takes part. Everything is eager, in the whole process, while the program captures
 * and while it asked for a pause; and for good after an error that ruins the context, after
 * anything else that cannot be followed, and when the process ends.
 *
 * What the doors say of it is in doors.h. Any thread, without a lock.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "stats/counters.h"

/* Whether calls of this thread's are to be looked at. */
bool reprise_taking_part(void);

/* What an op is counted as while Reprise takes no part. */
enum reprise_counter reprise_eager_counter(void);

/* The stream, or if it is NULL the context, is destroyed, with the captures that began there. */
void reprise_captures_destroyed(CUstream stream, CUcontext context);

/*
 * At exit: defers nothing any more, and waits, for so long at most, until the hold limit's thread
 * has issued what is deferred. This thread may not: exit can be called by a signal's handler that
 * interrupted it, in the driver or in Reprise.
 */
void reprise_stop_at_exit(uint64_t patience_ns);

/* The driver answered `error` to a deferred op. Whatever locks are held. */
void reprise_eager_note_error(CUresult error);

/* Why nothing is deferred any more; NULL while Reprise takes part. */
const char *reprise_stopped(void);

/* After fork, in the child: nothing has stopped there. */
void reprise_eager_reset(void);
