/* All lanes of the process: the lane of a call, and visiting all of them. */
#pragma once

#include "base/placement.h"
#include "lane/lane.h"

/* The lane of `stream` in the current context, made at its first op. Of the per-thread default
 * stream: the calling thread's. NULL if there can be none: no context, a stream of another context
 * or of a green context, a stream that captures, no memory. One load in the common case. */
struct reprise_lane *reprise_lanes_find(CUstream stream, bool per_thread);

/* The lane that this thread found last for the stream, in whatever context; NULL if there is none,
 * or a lane was retired since. Does not ask for the current context. Lanes that are `unusable` are
 * included. */
struct reprise_lane *reprise_lanes_remembered(CUstream stream, bool per_thread);

/* The rest of reprise_lanes_back_off(). */
bool reprise_lanes_op_backs_off(struct reprise_lane *lane, const struct reprise_call *call);

/* True if the op may be an eager call at once: its lane is in a backoff, or scans and has not found
 * that calls come again, and no lane holds ops that come before. Counts the op. */
static inline bool reprise_lanes_back_off(struct reprise_lane *lane,
                                          const struct reprise_call *call)
{
	return __builtin_expect(atomic_load_explicit(&lane->backoff_ops, memory_order_acquire) != 0,
	                        0) &&
	       reprise_lanes_op_backs_off(lane, call);
}

enum reprise_pass {
	REPRISE_PASS_NOT,
	REPRISE_PASS_AT_ONCE, /* and is counted */
	REPRISE_PASS_SCANNED, /* if reprise_lanes_pass_scanned() says so */
	REPRISE_PASS_IN_TURN, /* if it is a launch, and reprise_turns_pass_launch() says so */
};

/* The same for less work, for the lane that this thread found last for the stream, where no lane
 * holds anything and there are no groups. Does not ask for the current context: an eager call is
 * right in any context. */
enum reprise_pass reprise_lanes_pass(CUstream stream, bool per_thread);

/* False if the lane does not scan any more, or will not behind this op, which is not counted then.
 */
bool reprise_lanes_pass_scanned(CUstream stream, bool per_thread, struct reprise_scan_key key);

extern _Atomic uint32_t reprise_lanes_epoch;
extern _Thread_local uint32_t reprise_lanes_looked_up_at
	__attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

/* True if a lane was retired since this thread looked one up last: the lane it found may be another
 * stream's now. If false under the lane's lock, the lane stays the stream's until the lock is
 * given. */
static inline bool reprise_lanes_moved(void)
{
	return atomic_load_explicit(&reprise_lanes_epoch, memory_order_acquire) !=
	       reprise_lanes_looked_up_at;
}

/* As reprise_lanes_find(), but makes no lane, and includes lanes that are `unusable`. */
struct reprise_lane *reprise_lanes_known(CUstream stream, bool per_thread);

/* The stream that a handle names. `per_thread` as in struct reprise_call. */
CUstream reprise_stream_resolve(CUstream stream, bool per_thread);

/* The first of all lanes, retired ones included; `next` leads to the others. Without any lock. */
struct reprise_lane *reprise_lanes_first(void);

/* True if any lane has news. */
bool reprise_lanes_have_news(void);

/* True if any lane holds deferred ops. */
bool reprise_lanes_hold(void);

/* True if the known streams of `context`, the current one, have nothing to do. The program does not
 * capture. */
bool reprise_lanes_are_done(CUcontext context);

/* The number of lanes that other threads use: with ops since the barrier before the last one. */
unsigned int reprise_lanes_of_others(void);

/* Lanes of legacy streams in use, of which most programs that order their streams themselves have
 * none; and these with the lanes that are ordered against them. */
extern _Atomic uint32_t reprise_legacy_lanes, reprise_blocking_lanes;

/* True if no other lane can hold ops that come before this one's: the lane is not ordered against
 * any legacy or blocking lane. */
static inline bool reprise_lanes_unordered(const struct reprise_lane *lane)
{
	if (lane->stream == CU_STREAM_LEGACY)
		return atomic_load(&reprise_blocking_lanes) <= 1;
	return !lane->blocking || atomic_load(&reprise_legacy_lanes) == 0;
}

/* A lane has changed hands: clears all threads' caches. */
void reprise_lanes_look_again(void);

/* Calls `visit` for each lane, without any lock. */
void reprise_lanes_each(void (*visit)(struct reprise_lane *lane, void *context), void *context);

/* Tells the series over time what was done since the last time, in eager turns, too: once in some
 * hundred ops, and for a report. Under the lane's lock. */
void reprise_lane_tell_series(struct reprise_lane *lane);

/* The lane may become another stream's. Its traces must have been forgotten. Under its lock: a
 * thread that still takes it for the stream's finds out after taking the lock
 * (reprise_lanes_moved()). */
void reprise_lanes_retire(struct reprise_lane *lane);

/* After fork, in the child: no lane is known. */
void reprise_lanes_reset(void);

/* Notes the attributes of the calling thread's own stream, whose lane it is (graph/carried.h).
 * Under the lane's lock, or before the lane can be found. */
void reprise_lane_read_attributes(struct reprise_lane *lane);
