/*
 * What kernels take on the GPU, as CUPTI measures it: asked for with REPRISE_CUPTI, in observe only. CUPTI serves one client of its activities in a process,
 * so a program that profiles itself is not to be observed with it.
 *
 * libcupti is loaded when it is asked for and not before; where it is missing or older than what Reprise was built with, that is told, and nothing is measured.
 * It slows launches down. So it begins its work after REPRISE_GPU_AFTER ops, of which it is seen what launches cost, and from then on that is not looked at.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define REPRISE_GPU_KERNELS_MOST 128
#define REPRISE_GPU_AFTER 8192u

struct reprise_gpu {
	uint64_t kernels, first_ns, last_ns; /* how many, when the first began and the last ended */
	uint64_t busy_ns;                    /* while at least one ran */
	uint64_t dropped;                    /* records that CUPTI had no room for */
	unsigned int count;
	struct {
		const char *name; /* stays; the last row is "others" */
		uint64_t launches, ns;
	} rows[REPRISE_GPU_KERNELS_MOST];
};

/* Once, before the first op, with its context current. */
void reprise_gpu_begin(void);

/* An op came, before which there were so many. Begins to measure if it is time to. */
void reprise_gpu_look(uint64_t ops);

extern _Atomic bool reprise_gpu_working;

/* Whether kernels are measured by now: what calls take is not what they take without. */
static inline bool reprise_gpu_at_work(void)
{
	return atomic_load_explicit(&reprise_gpu_working, memory_order_relaxed);
}

/* At exit: takes what has been measured by then. Does not wait for kernels that still run. */
void reprise_gpu_end(void);

/* NULL if nothing was measured. */
const struct reprise_gpu *reprise_gpu_read(void);

/* After fork, in the child, where CUPTI does not go on. */
void reprise_gpu_reset(void);
