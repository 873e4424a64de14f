/* One record of a recording, as it stands in the file (docs/recording.md). */
#pragma once

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
