/*
 * Whether Reprise takes part. All calls of the process are eager while the program captures and
 * while it has asked for a pause. They are eager for good after an error that ruins the context,
 * after anything else that cannot be followed, and from the end of the process on.
 *
 * Any thread, without a lock. The functions that issue what is deferred are in pause.c.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/inside.h"
#include "base/placement.h"
#include "graph/program_captures.h"
#include "stats/counters.h"

/* The counter of an op's call while Reprise takes no part. */
enum reprise_counter reprise_eager_counter(void);

/* Between these two all calls of the process are eager. They nest; an end without a beginning does
 * nothing. */
void reprise_pause_begin(void);
void reprise_pause_end(void);

/* The first of them has begun, or the last is about to end. Where pauses of several threads begin
 * or end at the same moment, the time of one may not be counted. */
void reprise_eager_pause_begins(void);
void reprise_eager_pause_ends(void);

/* How long pauses that have ended have lasted in all, nanoseconds. */
uint64_t reprise_eager_paused_ns(void);

/*
 * Between these two all calls of this thread are eager: it is within an NVTX range that
 * REPRISE_NVTX_OFF names (api/nvtx.c). Other threads go on. The first issues what this thread
 * holds.
 */
void reprise_range_begin(void);
void reprise_range_end(void);

/* A counter, not zero while this thread is within such ranges. */
extern _Thread_local int reprise_in_range
	__attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

/* True if Reprise takes no part in this thread's calls only because of such a range. */
bool reprise_eager_by_range(void);

/* A synchronising call returned `result`. If CUDA documents that this error leaves the context
 * unusable ("must be destroyed"), all calls are eager from then on. */
void reprise_observe_result(CUresult result);

/* Issues everything deferred, and defers nothing any more in this process: something happened that
 * cannot be followed. `reason`: a string that stays valid, for the report. */
void reprise_stop(const char *reason);

/* At exit: defers nothing any more, and waits at most `patience_ns` until the hold thread has
 * issued what is deferred. This thread must not issue: a signal handler may have called exit and
 * interrupted this thread in the driver or in Reprise. */
void reprise_stop_at_exit(uint64_t patience_ns);

/* The driver answered `error`. If that ruins the context, nothing is deferred any more. True if
 * this call stopped Reprise. Any locks may be held. */
bool reprise_eager_note_error(CUresult error);

/* As reprise_stop(), but issues nothing, so a lane's lock may be held. True if this call stopped
 * Reprise. */
bool reprise_eager_stop(const char *reason);

/* Number of pauses under way, and flags: an eager turn (turns.h), and ops of it pass unseen. */
extern _Atomic uint32_t reprise_pauses;

#define REPRISE_PAUSE_TURN (UINT32_C(1) << 31)
#define REPRISE_PAUSE_UNSEEN (UINT32_C(1) << 30)
#define REPRISE_PAUSE_FLAGS (REPRISE_PAUSE_TURN | REPRISE_PAUSE_UNSEEN)

/* When the last eager turn began. */
extern _Atomic uint64_t reprise_turn_begun;

/* Begins an eager turn, if none is under way, and issues what this thread holds. What other threads
 * hold, they issue at their next call, or the hold thread does: the program has not asked for a
 * pause, and the driver may keep the thread that issues. Takes lanes' locks. */
void reprise_eager_turn_begin(void);

/* Ends it. */
void reprise_eager_turn_end(void);

/* Until then, on the clock, ops of the eager turn under way pass unseen: each costs what it costs
 * in a pause. Any locks may be held. */
void reprise_eager_unseen_begin(uint64_t until_ns);

/* An op passes unseen, and is counted. True if it is the last: the time is over. Reads the clock
 * once in many ops. */
bool reprise_eager_unseen_ends(void);

/* True while ops pass unseen, and there is no other reason why they are eager. */
bool reprise_eager_unseen(void);

/* Nanoseconds for which the eager turn under way has lasted; 0: there is none. */
uint64_t reprise_eager_turn_ns(void);

static inline bool reprise_eager_turn(void)
{
	return (atomic_load_explicit(&reprise_pauses, memory_order_relaxed) & REPRISE_PAUSE_TURN) != 0;
}

/* True in a pause, and in an eager turn: no op is deferred that comes now. */
static inline bool reprise_all_are_eager(void)
{
	return atomic_load_explicit(&reprise_pauses, memory_order_relaxed) != 0;
}

/* True in a pause: the program has asked for it, or somebody from outside. */
static inline bool reprise_is_paused(void)
{
	return (atomic_load_explicit(&reprise_pauses, memory_order_relaxed) & ~REPRISE_PAUSE_FLAGS) !=
	       0;
}

extern _Atomic(const char *) reprise_stopped_because;

/* The reason why nothing is deferred any more; NULL while Reprise takes part. */
static inline const char *reprise_stopped(void)
{
	return atomic_load_explicit(&reprise_stopped_because, memory_order_acquire);
}

/* True if these pauses are under way, and nothing else keeps Reprise from this thread's calls. */
static inline bool reprise_takes_part_but_for(uint32_t pauses)
{
	return (reprise_inside | reprise_in_range) == 0 && !reprise_program_captures_any() &&
	       atomic_load_explicit(&reprise_pauses, memory_order_acquire) == pauses &&
	       reprise_stopped() == NULL;
}

/* True if Reprise handles this thread's calls. */
static inline bool reprise_taking_part(void)
{
	return reprise_takes_part_but_for(0);
}

/* True if it does not only because of an eager turn. */
static inline bool reprise_eager_by_turn(void)
{
	return reprise_takes_part_but_for(REPRISE_PAUSE_TURN);
}

/* After fork, in the child: clears the reason. */
void reprise_eager_reset(void);
