/*
 * Whether Reprise takes part. Everything is eager, in the whole process, while the program captures
 * and while it asked for a pause; and for good after an error that ruins the context, after
 * anything else that cannot be followed, and when the process ends.
 *
 * Any thread, without a lock; pause.c has what issues what is deferred.
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

/* Between these two everything is eager, in the whole process. They nest; an end without a
 * beginning is nothing. */
void reprise_pause_begin(void);
void reprise_pause_end(void);

/*
 * A synchronising call returned `result`: after an error that CUDA documents as leaving the context
 * unusable
 * ("must be destroyed"), everything passes from then on.
 */
void reprise_observe_result(CUresult result);

/*
 * Issues everything deferred and defers nothing any more in this process: something happened that
 * cannot be followed. `reason` is a string that stays, for the report.
 */
void reprise_stop(const char *reason);

/*
 * At exit: defers nothing any more, and waits, for so long at most, until the hold limit's thread
 * has issued what is deferred. This thread may not: exit can be called by a signal's handler that
 * interrupted it, in the driver or in Reprise.
 */
void reprise_stop_at_exit(uint64_t patience_ns);

/* The driver answered `error`. If that ruins the context, nothing is deferred any more; true if it
 * was until now. Whatever locks are held. */
bool reprise_eager_note_error(CUresult error);

/* As reprise_stop(), by who holds a lane's lock: issues nothing. True if this stopped it. */
bool reprise_eager_stop(const char *reason);

/* How many pauses are under way. */
extern _Atomic uint32_t reprise_pauses;

/* Why nothing is deferred any more; NULL while Reprise takes part. */
const char *reprise_stopped(void);

/* After fork, in the child: nothing has stopped there. */
void reprise_eager_reset(void);
