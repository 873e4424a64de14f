/*
 * What kernels take on the GPU, added up for observe's report, of what CUPTI tells (gpu/gpu.h).
 * That slows launches down. So it begins after REPRISE_KERNELS_AFTER ops, of which it is seen what
 * launches cost, and from then on that is not looked at.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/activity.h"

#define REPRISE_KERNELS_MOST 128
#define REPRISE_KERNELS_AFTER 8192u

struct reprise_kernels {
	uint64_t count, first_ns, last_ns; /* how many, when the first began and the last ended */
	uint64_t busy_ns;                  /* while at least one ran */
	unsigned int names;
	struct {
		const char *name; /* stays; the last row is "others" */
		uint64_t launches, ns;
	} rows[REPRISE_KERNELS_MOST];
};

extern _Atomic bool reprise_kernels_working;

/* Whether observe has kernels measured by now: what calls take is not what they take without. */
static inline bool reprise_kernels_at_work(void)
{
	return atomic_load_explicit(&reprise_kernels_working, memory_order_relaxed);
}

/* By gpu/gpu.h. */
void reprise_kernels_note(const struct reprise_gpu_activity *activities, size_t count);

/* NULL if nothing was measured. */
const struct reprise_kernels *reprise_kernels_read(void);

/* After fork, in the child. */
void reprise_kernels_reset(void);
