/* What ran on the GPU: one kernel, copy or memset, as gpu/gpu.h tells it. */
#pragma once

#include <stdint.h>

enum reprise_gpu_kind { REPRISE_GPU_KERNEL, REPRISE_GPU_COPY, REPRISE_GPU_MEMSET };

/* In nanoseconds, of reprise_clock_steady_ns() if the timeline is told, else of CUPTI's clock. 0 is
 * what CUPTI does not know. */
struct reprise_gpu_activity {
	const char *name; /* of a kernel, or which way a copy goes; may be gone once it has been told */
	uint64_t begin, end;
	uint64_t node, bytes; /* the node of the graph that it was launched with; of a copy or memset */
	uint32_t device, context, stream, graph, correlation;
	uint32_t grid[3], block[3];
	enum reprise_gpu_kind kind;
};
