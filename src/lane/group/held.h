/*
 * The events that deferred ops of a lane record, or wait for. They are written under the lane's
 * lock, and read without it: the driver may keep the lock's holder, which issues these ops, and a
 * call with another event must not wait for that.
 *
 * Who comes behind a deferred record, in the program's own order, sees it here until it was issued.
 * A wait comes behind the record before it, so another record of its event issues it first; whoever
 * reads the event is not concerned.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A visit with records of more events, or waits for more, counts as one with those of every event.
 * Guess: eight streams that fork and join four times, each time with events of their own. */
#define REPRISE_HELD_MOST 32

struct reprise_held_records {
	_Atomic uint32_t count; /* past REPRISE_HELD_MOST: every event */
	_Atomic(CUevent) events[REPRISE_HELD_MOST];
};

/* True if a deferred op may record the event, or wait for it. Any thread, no lock needed. */
static inline bool reprise_held_has(const struct reprise_held_records *held, CUevent event)
{
	uint32_t count = atomic_load(&held->count);

	if (count > REPRISE_HELD_MOST)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (atomic_load_explicit(&held->events[i], memory_order_relaxed) == event)
			return true;
	return false;
}

/* An op that records the event, or waits for it, is deferred. Under the lane's lock. */
static inline void reprise_held_add(struct reprise_held_records *held, CUevent event)
{
	uint32_t count = atomic_load_explicit(&held->count, memory_order_relaxed);

	if (reprise_held_has(held, event))
		return;
	if (count < REPRISE_HELD_MOST)
		atomic_store_explicit(&held->events[count], event, memory_order_relaxed);
	atomic_store(&held->count, count + 1);
}

/* Nothing is deferred any more: what was is issued. Under the lane's lock. */
static inline void reprise_held_none(struct reprise_held_records *held)
{
	if (atomic_load_explicit(&held->count, memory_order_relaxed) != 0)
		atomic_store(&held->count, 0);
}
