/*
 * Recorded op streams: what a program asked of the driver, in order, without data.
 *
 * A file is a text header (`OPSTREAM1`, `N records`, a line `id name` for each driver call, `end`), then N little-endian records of 12
 * bytes: kind (0: a kernel launch, else a call's id), lane (255: none), gap since the last record in 10 ns (saturating; since its return if that was
 * a launch), hash of the shape, hash of the values.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opstream_kind {
	OPSTREAM_KERNEL,
	OPSTREAM_COPY,    /* on the device, asynchronous */
	OPSTREAM_SET,     /* memset, asynchronous */
	OPSTREAM_ORDER,   /* a barrier of one lane */
	OPSTREAM_WAIT,    /* a barrier of all lanes that the host waits at */
	OPSTREAM_NOTHING, /* unrelated to stream order */
};

struct opstream_record {
	enum opstream_kind kind;
	uint8_t lane;
	uint32_t gap_ns;
	uint32_t shape, value;
};

struct opstream {
	struct opstream_record *records;
	size_t count;
};

/* What an op is: one that may be replayed. */
static inline bool opstream_is_op(const struct opstream_record *record)
{
	return record->kind <= OPSTREAM_SET;
}

/* Reads a file; says what is wrong on stderr and returns false. The caller frees stream->records. */
bool opstream_read(struct opstream *stream, const char *path);
