/* What the files of this room need of each other. */
#pragma once

#include <cuda.h>

#include "entry/entry.h"
#include "record/record.h"

/* Issues what the lanes hold and forgets all their traces. Their graphs go to the reclaim list. */
void reprise_lanes_forget_all(void);

/* The stream is destroyed, or the context if `stream` is NULL, with the captures that
 * began there. */
void reprise_program_captures_destroyed(CUstream stream, CUcontext context);

/* ---- what the recorder is told (recorded.c): the program's calls, with the lane of each; only
 * while Reprise records (reprise_records), before anything is decided ---- */

/* Before the op goes to its lane. */
void reprise_recorded_op(const struct reprise_call *call);

/* A call that orders the lane; NULL: the stream has none. */
void reprise_recorded_order(const struct reprise_lane *lane);

/* A call that waits. Parameters as in reprise_sync(). */
void reprise_recorded_wait(enum reprise_sync what, uintptr_t handle, bool per_thread);

void reprise_recorded_lifetime(enum reprise_lifetime what, uintptr_t handle);
