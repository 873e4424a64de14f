/* A place in a lane's history, as far as it can be told from what came just before. */
#pragma once

#include <stdint.h>

/* What came before: the shape of an op, or one of these. */
#define REPRISE_BEFORE_NOTHING 1u
#define REPRISE_BEFORE_BARRIER 2u /* a barrier that the host need not have waited at */
#define REPRISE_BEFORE_WAIT 3u    /* the host waited: the stream was empty */

#define REPRISE_NEAR_WAIT \
	512 /* ops: further from the last wait, distances from it are not compared */

struct reprise_position {
	uint64_t before;
	uint64_t value;          /* of the op before; 0 if there is none, or its values do not tell */
	unsigned int since_wait; /* ops since the last wait */
};
