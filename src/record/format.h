/* The format of a recording (docs/recording.md). */
#pragma once

#include <stdint.h>

#include "op/call.h"

/*
 * The kinds of records that are not ops, once: enumerator, name in the file, meaning. An op's
 * record has the op's kind (op/call.h). All but the first two are barriers. A barrier's `lane` is
 * the one that it is about.
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

/* One record in the file; little-endian. */
struct reprise_record {
	uint8_t kind;
	/* Lanes are numbered by their first ops; REPRISE_LANE_NONE: none. */
	uint8_t lane;
	/* Threads likewise; the last number stands for all further threads. */
	uint8_t thread;
	/* Of ops: kind of the target's memory (bits 0-1) and of the source's (2-3); enum reprise_unfit
	 * (4-7). */
	uint8_t detail;
	/* Nanoseconds since the thread's last op returned, or its last barrier began. Saturates. */
	uint32_t gap_ns;
	uint32_t shape, value;
};
