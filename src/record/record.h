/*
 * Recording: what the program asks of its streams, call by call, in a file (REPRISE_STREAM), so
 * that finding can be run over it afterwards and elsewhere. What is recorded is what the program
 * asked, whatever becomes of it: the same with REPRISE=on as with observe. There is none of the
 * program's data in it, nor an address: hashes, sizes of pauses, and numbers of lanes and threads.
 * docs/recording.md describes the file.
 *
 * Each function may be called from any thread, takes one leaf lock, and costs a few hundred
 * nanoseconds; once in a few thousand records 64 KiB are written to a plain file. While nothing is
 * recorded, a caller reads one word.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "op/call.h"
#include "record/format.h"

#define REPRISE_LANE_NONE 255

/* What there is to know of a lane. */
struct reprise_record_lane {
	uint8_t number;
	bool legacy, blocking;
	uint64_t context;
};

/* Whether calls are to be recorded. Read by whoever calls the functions below. */
extern _Atomic bool reprise_recording;

static inline bool reprise_records(void)
{
	return __builtin_expect(atomic_load_explicit(&reprise_recording, memory_order_relaxed), 0);
}

/* When Reprise starts: records from now on if that was asked for. */
void reprise_record_begin(void);

/* An op is about to be submitted. `lane` is NULL where the stream has none. */
void reprise_record_op(const struct reprise_record_lane *lane, const struct reprise_call *call);

/* It returned. */
void reprise_record_returned(CUresult result);

/* Barriers before the first op are not recorded. */
void reprise_record_barrier(enum reprise_record_kind kind, uint8_t lane);

/* Nothing is recorded any more; what was is written. Waits a moment at most for a thread that is
 * just recording. */
void reprise_record_end(void);

/* After fork, in the child: what was recorded is the parent's. The child has a file of its own. */
void reprise_record_reset(void);

/* Why recording ended before the program did; NULL if it did not. */
const char *reprise_record_cut_short(void);
