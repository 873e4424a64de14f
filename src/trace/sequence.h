/* The ops of a trace in their order, for the report. Equal ops in a row are one row. The number of
 * rows is bounded; the rest is counted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

#define REPRISE_SEQUENCE_MOST 48 /* rows */

struct reprise_sequence_row {
	uint32_t times; /* so many of them in a row */
	uint16_t name;  /* of a kernel (op/name.h); 0: none */
	uint8_t kind;   /* enum reprise_op_kind */
	bool any_value;
	union {
		struct {
			unsigned int grid[3], block[3];
		} kernel;
		/* of copies and memsets of one dimension; otherwise 0 */
		uint64_t bytes;
	};
};

struct reprise_sequence {
	unsigned int count;    /* rows */
	unsigned int left_out; /* ops after the last row */
	struct reprise_sequence_row rows[REPRISE_SEQUENCE_MOST];
};

/* Under the lock of the trace's lane. */
void reprise_sequence_note(struct reprise_sequence *sequence, const struct reprise_trace *trace);
