/* What ran on the GPU: a kernel, copy or memset, from gpu/gpu.h. */
#pragma once

#include <stdint.h>

enum reprise_gpu_kind { REPRISE_GPU_KERNEL, REPRISE_GPU_COPY, REPRISE_GPU_MEMSET };

/* Times are in nanoseconds: of reprise_clock_steady_ns() if there is a timeline, else of CUPTI's
 * clock. 0 is what CUPTI does not know. */
struct reprise_gpu_activity {
	/* A kernel's name, or the direction of a copy. Valid only while the receiver runs. */
	const char *name;
	uint64_t begin, end;
	/* The node of the graph that launched it. The bytes of a copy or memset. */
	uint64_t node, bytes;
	uint32_t device, context, stream, graph, correlation;
	uint32_t grid[3], block[3];
	enum reprise_gpu_kind kind;
};
