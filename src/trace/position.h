/* The position of an op: what came before it in the lane. */
#pragma once

#include <stdint.h>

/* `before`: the shape of an op, or one of these. */
#define REPRISE_BEFORE_NOTHING 1u
#define REPRISE_BEFORE_BARRIER 2u /* a barrier without a wait of the host */
#define REPRISE_BEFORE_WAIT 3u    /* the host waited: the stream was empty */

struct reprise_position {
	uint64_t before;
	uint64_t value;          /* of the op before; 0: none, or an any-value op */
	unsigned int since_wait; /* ops since the last wait */
};
