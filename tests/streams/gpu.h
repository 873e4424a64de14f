/*
 * A GPU that takes as long for every op, by streams: what is issued runs behind what its stream
 * has, and a graph's first op a little later, as does an op that is launched alone. Streams never
 * wait for each other here. When it is done with what a wait is for says how much longer a program
 * waits if its ops come later.
 */
#pragma once

#include <stdint.h>

#include "opstream.h"

struct gpu {
	uint64_t op_ns;                   /* what an op takes */
	uint64_t free_ns[OPSTREAM_LANES]; /* when the stream is done with what it has */
};

/* The host issued so many ops at `now_ns`, in so many graphs; 0: by themselves. */
void gpu_run(struct gpu *gpu, unsigned int lane, uint64_t ops, uint64_t graphs, uint64_t now_ns);

/* How long one waits from `now_ns` on for the lane, or if it is OPSTREAM_NO_LANE for all. */
uint64_t gpu_wait_ns(const struct gpu *gpu, unsigned int lane, uint64_t now_ns);

/* It was faster than that: all that it has is done so much sooner. */
void gpu_hurry(struct gpu *gpu, uint64_t ns);
