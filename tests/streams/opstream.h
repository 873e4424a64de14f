/*
 * Recorded op streams: what a program asked of the driver, in order, without data.
 * docs/recording.md describes the files; this reads both forms.
 *
 * OPSTREAM2 is what REPRISE_RECORD records: records of 16 bytes (src/record/record.h) whose kinds
 * the header names. OPSTREAM1 is of a recorder before it: records of 12 bytes, kind (0: a kernel
 * launch, else a driver call's id in the header), lane (255: none), gap since the last record in 10
 * ns (saturating; since its return if that was a launch), hash of the shape, hash of the values. Of
 * one thread, all on device memory, as far as it tells.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opstream_kind {
	OPSTREAM_KERNEL,
	OPSTREAM_COPY,      /* asynchronous */
	OPSTREAM_SET,       /* memset, asynchronous */
	OPSTREAM_ORDER,     /* a barrier of one lane; of a stream without a lane: 255 */
	OPSTREAM_ORDER_ALL, /* of all lanes; the host does not wait */
	OPSTREAM_WAIT, /* a barrier of all lanes that the host waits at; `lane` is the one that it waits
	                  for, if there is but one */
	OPSTREAM_MEMORY,     /* the same; what kind of memory an address is, is asked again */
	OPSTREAM_FORGET,     /* the same, and what the lane's traces refer to ends */
	OPSTREAM_FORGET_ALL, /* of all lanes */
	OPSTREAM_LANE,       /* what its stream is */
	OPSTREAM_NOTHING,    /* unrelated to stream order */
};

#define OPSTREAM_LANES 256
#define OPSTREAM_NO_LANE 255

struct opstream_record {
	enum opstream_kind kind;
	uint8_t lane, thread;
	uint8_t target_memory, source_memory; /* enum reprise_memory */
	bool unfit;                           /* an op that is never deferred */
	bool refused;                         /* the driver did not take it */
	bool legacy, blocking;                /* OPSTREAM_LANE */
	uint32_t gap_ns;                      /* the thread's own pause */
	uint32_t shape, value;
};

struct opstream {
	struct opstream_record *records;
	size_t count;
};

/* What an op is: one that may be replayed, if it is fit. */
static inline bool opstream_is_op(const struct opstream_record *record)
{
	return record->kind <= OPSTREAM_SET;
}

/* Whether no trace of the lane goes over it. */
static inline bool opstream_is_barrier(const struct opstream_record *record, unsigned int lane)
{
	if (opstream_is_op(record))
		return record->unfit && record->lane == lane;
	return record->kind == OPSTREAM_ORDER ? record->lane == lane : record->kind < OPSTREAM_LANE;
}

/* Reads a file; says what is wrong on stderr and returns false. The caller frees stream->records.
 */
bool opstream_read(struct opstream *stream, const char *path);
