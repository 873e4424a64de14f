/*
 * What kernels take on the GPU, as CUPTI measures it: asked for with REPRISE_CUPTI, in observe only. CUPTI serves one client of its activities in a process,
 * so a program that profiles itself is not to be observed with it.
 *
 * libcupti is loaded when it is asked for and not before; where it is missing or older than what Reprise was built with, that is told, and nothing is measured.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPRISE_GPU_KERNELS_MOST 128

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

/* At exit: takes what has been measured by then. Does not wait for kernels that still run. */
void reprise_gpu_end(void);

/* NULL if nothing is measured. */
const struct reprise_gpu *reprise_gpu_read(void);

/* After fork, in the child, where CUPTI does not go on. */
void reprise_gpu_reset(void);
