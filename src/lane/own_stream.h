/*
 * Threads' own default streams (CU_STREAM_PER_THREAD). Only its own thread can issue to such a
 * stream, and others have to issue what is deferred there: the hold thread, and whoever makes a
 * barrier. They issue it to the lane's proxy, a private stream.
 *
 *     place      Before a visit begins, the thread records an event in its own stream. The proxy
 *                waits for it before anything is issued there.
 *     unsettled  What was issued to the proxy comes before whatever the thread gives its own stream
 *                next. Until that stream waits for the proxy, the lane is unsettled. Only its own
 *                thread settles it, before it gives the stream work.
 *
 * No visit begins on an unsettled lane, so only its own thread is concerned with one.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/ending.h"
#include "lane/lane.h"

/* True if the lane is another thread's own stream's: the calling thread cannot issue there. */
static inline bool reprise_own_stream_is_anothers(const struct reprise_lane *lane)
{
	uint32_t owner = atomic_load_explicit(&lane->owner, memory_order_relaxed);

	return __builtin_expect(owner != 0, 0) && owner != reprise_thread_self();
}

/* ---- under the lane's lock, with its context current ---- */

/* By its own thread, before the first op of a visit is deferred: notes the place. False if the
 * driver refuses: nothing may be deferred. */
bool reprise_own_stream_note_place(struct reprise_lane *lane);

/* Around what another thread issues in the thread's place: returns the stream to issue to. After
 * the second the lane is unsettled. The caller is between reprise_gate_begin_giving() and its end.
 */
CUstream reprise_own_stream_begin_in_place(struct reprise_lane *lane);
void reprise_own_stream_end_in_place(struct reprise_lane *lane);

/* ---- by a thread whose own stream's lane in the current context holds nothing, or under that
 * lane's lock ---- */

/* Before a call that gives the stream work, which may be the thread's own: settles it. */
void reprise_own_streams_settle_now(CUstream stream, bool per_thread);

static inline void reprise_own_streams_settle(CUstream stream, bool per_thread)
{
	if (__builtin_expect(atomic_load(&reprise_unsettled) != 0, 0))
		reprise_own_streams_settle_now(stream, per_thread);
}

/* Before a call that only waits for the stream: waits for the proxy. The stream itself is given
 * nothing: that would come behind what the legacy stream was given meanwhile. No lock is held. */
void reprise_own_streams_await(CUstream stream, bool per_thread);

/* Before a call that asks whether the stream has finished. False: the proxy has not. */
bool reprise_own_streams_have_finished(CUstream stream, bool per_thread);

/* ---- ends: under the lane's lock, or where the context has ended ---- */

/* Nobody has to wait for the proxy any more. */
void reprise_own_stream_drop(struct reprise_lane *lane);

/* The lane is given up, and its context may go on. False if its thread has to wait for the proxy
 * still: then the lane keeps it. */
bool reprise_own_stream_may_end(struct reprise_lane *lane);

/* True if the lane's proxy has nothing to do, as far as the driver says. */
bool reprise_own_stream_is_idle(struct reprise_lane *lane);
