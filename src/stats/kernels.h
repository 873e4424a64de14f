/*
 * Sums of the kernels' time on the GPU, for observe's report, from CUPTI (gpu/gpu.h). CUPTI slows
 * launches down. So it begins after REPRISE_TUNE_KERNELS_AFTER ops, which show the cost of
 * launches; from then on that cost is not measured.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tuning.h"

/* What ran on the GPU: a kernel, copy or memset, from gpu/gpu.h. */
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

#define REPRISE_KERNELS_MOST 128

struct reprise_kernels {
	/* The number of kernels, the first begin and the last end. */
	uint64_t count, first_ns, last_ns;
	uint64_t busy_ns; /* while at least one ran */
	unsigned int names;
	struct {
		const char *name; /* stays valid; the last row is "others" */
		uint64_t launches, ns;
	} rows[REPRISE_KERNELS_MOST];
};

extern _Atomic bool reprise_kernels_working;

/* True once observe measures kernels: calls then take longer than without. */
static inline bool reprise_kernels_at_work(void)
{
	return atomic_load_explicit(&reprise_kernels_working, memory_order_relaxed);
}

/* Called by gpu/gpu.h. */
void reprise_kernels_note(const struct reprise_gpu_activity *activities, size_t count);

/* False if nothing was measured. */
bool reprise_kernels_read(struct reprise_kernels *copy);

/* After fork, in the child. */
void reprise_kernels_reset(void);
