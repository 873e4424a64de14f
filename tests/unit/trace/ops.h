/* Ops for the tests of src/trace: all that counts there is their hashes. */
#pragma once

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "trace/trace.h"

/* An op of shape `shape` with the value `value`, two small numbers. */
static inline struct reprise_op op_of(unsigned int shape, unsigned int value)
{
	struct reprise_op op = {
		.kind = REPRISE_OP_SET,
		.set = {.target = shape, .value = value, .element_bytes = 4, .width = 1, .height = 1}};

	op.shape = reprise_hash_mix(shape, 77);
	op.value = reprise_hash_mix(op.shape, value);
	return op;
}
