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

/*
 * The kinds of records that are no ops, once: enumerator, name in the file, what it says. An op's
 * kind is its own (op/call.h). All but the first two are barriers; of a barrier, `lane` is the one
 * that it is about.
 */
#define REPRISE_RECORD_KINDS(X) \
	X(LANE, "lane", \
	  "the lane's stream, when its first op comes. shape: 1 it is the legacy default stream, 2 it is ordered against that one; value: its context") \
	X(REFUSED, "refused", "the driver refused the thread's last op") \
	X(ORDER, "order", "orders the lane; the host does not wait") \
	X(WAIT, "wait", \
	  "the host waits, or may see what was done: for the lane if there is one, else for all") \
	X(CAPTURE, "capture", \
	  "a capture of the program's begins: until it ends, what it calls is not recorded") \
	X(CODE, "code", "code ends or changes") \
	X(FUNCTION, "function", "an attribute of one function changes") \
	X(MEMORY, "memory", "memory is freed or unregistered") \
	X(ATTRIBUTES, "attributes", "the attributes of the lane's stream change") \
	X(STREAM, "stream", "the lane's stream ends; its number may be given to another") \
	X(CONTEXT, "context", "a context ends")

enum reprise_record_kind {
	REPRISE_RECORD_AFTER_OPS = REPRISE_OP_KIND_COUNT - 1,
#define X(kind, name, text) REPRISE_RECORD_##kind,
	REPRISE_RECORD_KINDS(X)
#undef X
		REPRISE_RECORD_KIND_COUNT
};

/* One record, as it stands in the file; little-endian. */
struct reprise_record {
	uint8_t kind;
	uint8_t lane;    /* in the order of their first ops; REPRISE_LANE_NONE where there is none */
	uint8_t thread;  /* the same, of threads; the last number stands for all further ones */
	uint8_t detail;  /* ops: kind of memory of target (bits 0-1) and source (2-3); why it cannot be
	                    deferred (4-7, enum reprise_unfit) */
	uint32_t gap_ns; /* the thread's own pause: since its last op returned, or its last barrier was
	                    entered; saturating */
	uint32_t shape, value;
};

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
