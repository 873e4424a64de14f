/*
 * Recording: writes what the program asks of its streams, call by call, to a file (REPRISE_RECORD),
 * so that finding can be run over it later and elsewhere. The record is of the program's calls,
 * whatever Reprise does with them: the same with REPRISE=on as with observe. It has none of the
 * program's data and no address, only hashes, times, and numbers of lanes and threads.
 * docs/recording.md describes the file.
 *
 * Any thread; takes one leaf lock, for a few hundred nanoseconds. Once in a few thousand records 64
 * KiB are written to a plain file. Without a recording, a caller reads one word.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "op/call.h"
#include "record/format.h"

#define REPRISE_LANE_NONE 255

/* What is recorded of a lane. */
struct reprise_record_lane {
	uint8_t number;
	bool legacy, blocking;
	uint64_t context;
};

/* True if calls are to be recorded. Callers of the functions below check it. */
extern _Atomic bool reprise_recording;

static inline bool reprise_records(void)
{
	return __builtin_expect(atomic_load_explicit(&reprise_recording, memory_order_relaxed), 0);
}

/* When Reprise starts: begins to record if that was asked for. */
void reprise_record_begin(void);

/* Before an op is handled. `lane` is NULL if the stream has none. */
void reprise_record_op(const struct reprise_record_lane *lane, const struct reprise_call *call);

/* After the op returned. */
void reprise_record_returned(CUresult result);

/* Barriers before the first op are not recorded. */
void reprise_record_barrier(enum reprise_record_kind kind, uint8_t lane);

/* Ends the recording and writes the rest. Waits for a moment at most for a thread that is
 * recording. */
void reprise_record_end(void);

/* After fork, in the child: the recording is the parent's. The child makes a file of its own. */
void reprise_record_reset(void);

/* Why the recording ended before the program; NULL if it did not. */
const char *reprise_record_cut_short(void);
