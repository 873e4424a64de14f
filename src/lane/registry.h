/* All lanes of the process: which one a call belongs to, and going through all of them. */
#pragma once

#include "lane.h"

/*
 * The lane of `stream` in the current context, made at its first op. NULL if there can be none: no context, per-thread default
 * stream, stream of another or of a green context, a stream that captures, no memory. One load in the common case.
 */
struct reprise_lane *reprise_lanes_find(CUstream stream, bool per_thread);

/*
 * True if the op may pass without anybody looking: its stream's lane was left alone because nothing repeats in it. Counts the
 * op. Does not ask for the context, since passing is right in any; that question is half of what watching costs.
 */
bool reprise_lanes_asleep(CUstream stream, bool per_thread);

/* As reprise_lanes_find(), but only if it is there already. */
struct reprise_lane *reprise_lanes_known(CUstream stream, bool per_thread);

/* Calls `visit` for each lane, without any lock. */
void reprise_lanes_each(void (*visit)(struct reprise_lane *lane, void *context), void *context);

/* Barrier on every lane that needs one. */
void reprise_lanes_barrier(bool wait);

/*
 * Issues what the other lanes hold that must come before an op of `lane`: those of blocking streams before the legacy stream's
 * ops, and the other way round. `is_copy`: before a copy on the legacy stream also those of other contexts, whose devices it may reach. Takes the
 * locks of other lanes, so none may be held.
 */
void reprise_lanes_make_way(const struct reprise_lane *lane, bool is_copy);

/* The stream is about to go: its lane may become another stream's. Its traces must have been forgotten. */
void reprise_lanes_retire(struct reprise_lane *lane);

/* After fork, in the child: no lane is known. */
void reprise_lanes_reset(void);
