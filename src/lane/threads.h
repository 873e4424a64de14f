/* What a thread has under way: calls that are no ops, and the lane of its own default stream. */
#pragma once

#include "lane/lane.h"
#include "lane/registry.h"

/* ---- calls that are no ops, from when Reprise is told of them until they have returned: meanwhile
 * they may give their stream work at any moment ---- */

/* A call of this thread on the lane's stream is on its way to the driver, and its place in the
 * stream's order is unknown. Until it has returned no graph with that group member is launched.
 * begins(): under the lock of the lane that has the stream's ops. ends(): no lock is held. */
void reprise_lanes_call_begins(struct reprise_lane *lane);
void reprise_lanes_call_ends(struct reprise_lane *lane);

/* This thread makes another call, so the last one that reprise_lanes_order() was told of has
 * returned. */
void reprise_lanes_returned(void);

/* After fork, in the child: the last call was of the parent's lanes. */
void reprise_lanes_calls_reset(void);

/* Calls on this stream (NULL: any) are not seen by Reprise: no member of its group is known to be
 * behind another. */
void reprise_lanes_lose_order(CUstream stream);

/* The calling thread's call on the lane's stream is on its way until reprise_lanes_returned().
 * Under the lock of the lane that has the stream's ops. */
void reprise_calls_note(struct reprise_lane *lane);

/* The same of a call that may give any stream work. No lock is held. */
void reprise_calls_note_unknown(void);

/* The calling thread owns a lane, captures on its own stream, or has a call under way: its end will
 * be noted. Takes no lock. */
void reprise_thread_owns(void);

/* As reprise_lanes_find(), for an op: the lane of the thread's own stream is given up when the
 * thread ends. */
static inline struct reprise_lane *reprise_lanes_find_own(CUstream stream, bool per_thread)
{
	struct reprise_lane *lane = reprise_lanes_find(stream, per_thread);

	if (lane != NULL &&
	    __builtin_expect(atomic_load_explicit(&lane->owner, memory_order_relaxed) != 0, 0))
		reprise_thread_owns();
	return lane;
}

/* ---- the lanes of threads' own default streams (own_stream.h) ---- */

/* Gives up the lanes of ended threads. By the builder, which holds the lock `compiling`. True if
 * there were any. *left: a lane holds ops still, or its proxy has work to do; it has to be looked
 * at again. */
bool reprise_threads_clean_up(bool *left);

/* The calling thread sets attributes of its own stream. Call with `call_returned` false before the
 * driver's call, and with true after it. */
void reprise_thread_attributes_change(bool call_returned);
