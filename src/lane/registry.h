/* All lanes of the process: which one a call belongs to, and going through all of them. */
#pragma once

#include "base/tls.h"
#include "lane/lane.h"

/*
 * The lane of `stream` in the current context, made at its first op; of the per-thread default
 * stream, the calling thread's. NULL if there can be none: no context, stream of another or of a
 * green context, a stream that captures, no memory. One load in the common case.
 */
struct reprise_lane *reprise_lanes_find(CUstream stream, bool per_thread);

/*
 * True if the op may pass without anybody looking: its stream's lane was left alone because nothing
 * repeats in it, and nobody holds what comes before. Counts the op. Does not ask for the context,
 * since passing is right in any; that question is half of what watching costs.
 */
bool reprise_lanes_back_off(CUstream stream, bool per_thread);

extern _Atomic uint32_t reprise_lanes_epoch;
extern _Thread_local uint32_t reprise_lanes_looked_up_at
	__attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));

/*
 * Whether lanes have changed hands since this thread looked one up last: if so, that one may be
 * another stream's. False under the lane's lock, it stays the stream's until the lock is given.
 */
static inline bool reprise_lanes_moved(void)
{
	return atomic_load_explicit(&reprise_lanes_epoch, memory_order_acquire) !=
	       reprise_lanes_looked_up_at;
}

/* As reprise_lanes_find(), but only if it is there already. */
struct reprise_lane *reprise_lanes_known(CUstream stream, bool per_thread);

/* Which stream a handle names; `per_thread` as in struct reprise_call. */
CUstream reprise_stream_resolve(CUstream stream, bool per_thread);

/* The first of all lanes, retired ones too; `next` leads to the others. Without any lock. */
struct reprise_lane *reprise_lanes_first(void);

/* Whether any lane has news. */
bool reprise_lanes_have_news(void);

/* Whether any lane holds deferred ops. */
bool reprise_lanes_hold(void);

/* Whether the streams of the current context, which this is, have nothing to do, as far as they are
 * known. The program does not capture. */
bool reprise_lanes_are_done(CUcontext context);

/* How many lanes other threads work on at present: they had ops since the barrier before the last
 * one. */
unsigned int reprise_lanes_of_others(void);

/* True if no other lane can hold what must come before this one's ops: neither is the legacy
 * stream's, or there is no other that is ordered against it. */
bool reprise_lanes_unordered(const struct reprise_lane *lane);

/* A lane has changed hands: threads forget which they used last. */
void reprise_lanes_look_again(void);

/* Calls `visit` for each lane, without any lock. */
void reprise_lanes_each(void (*visit)(struct reprise_lane *lane, void *context), void *context);

/* The lane may become another stream's. Its traces must have been forgotten. Under its lock, which
 * nobody gets then who still takes it for the stream's. */
void reprise_lanes_retire(struct reprise_lane *lane);

/* After fork, in the child: no lane is known. */
void reprise_lanes_reset(void);

/* Writes down which attributes the calling thread's own stream has, whose lane it is
 * (graph/carried.h). Under the lane's lock, or before anybody finds it. */
void reprise_lane_read_attributes(struct reprise_lane *lane);
