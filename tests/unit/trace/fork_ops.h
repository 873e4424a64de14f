/* Ops of several streams, for the tests of what may be one graph. */
#pragma once

#include <stdint.h>

#include "op/op.h"

#define MOST 64

/* Ops in a line of text: K work, R1 a record of event 1, W1 a wait for it, each before its stream's
 * letter. */
static inline unsigned int ops_of(const char *text, struct reprise_op *ops)
{
	unsigned int count = 0;

	for (; *text != '\0'; text += *text == ' ') {
		struct reprise_op *op = &ops[count++];

		*op = (struct reprise_op){.kind = *text == 'R'   ? REPRISE_OP_RECORD
		                                  : *text == 'W' ? REPRISE_OP_WAIT
		                                                 : REPRISE_OP_SET};
		if (*text++ != 'K')
			op->event = (CUevent)(uintptr_t)(*text++ - '0');
		op->member = (uint8_t)(*text++ - 'a');
	}
	return count;
}
