/* Tells the recorder (record/record.h) of the program's calls, with the lane of each. Called only
 * while Reprise records (reprise_records), before anything is decided. */
#pragma once

#include "record/record.h"
#include "entry/entry.h"
#include "lane/lane.h"

/* Before the op goes to its lane. */
void reprise_recorded_op(const struct reprise_call *call);

/* A call that orders the lane; NULL: the stream has none. */
void reprise_recorded_order(const struct reprise_lane *lane);

/* A call that waits. Parameters as in reprise_sync(). */
void reprise_recorded_wait(enum reprise_sync what, uintptr_t handle, bool per_thread);

void reprise_recorded_lifetime(enum reprise_lifetime what, uintptr_t handle);
