/*
 * What the recorder (record/record.h) is told of the program's calls: which lane each is about.
 * Called only while something is recorded (reprise_records), before anything is decided.
 */
#pragma once

#include "record/record.h"
#include "entry/entry.h"
#include "lane/lane.h"

/* The op is about to be submitted. */
void reprise_recorded_op(const struct reprise_call *call);

/* A call that orders the lane, if it has one. */
void reprise_recorded_order(const struct reprise_lane *lane);

/* A call that waits. Parameters as those of reprise_sync(). */
void reprise_recorded_wait(enum reprise_sync what, uintptr_t handle, bool per_thread);

void reprise_recorded_lifetime(enum reprise_lifetime what, uintptr_t handle);
