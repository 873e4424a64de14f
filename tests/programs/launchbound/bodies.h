// What an iteration of each shape issues. No body waits, so that all can be captured.
#pragma once

#include "kernels.h"
#include "run.h"

inline uint32_t constant(uint32_t k)
{
	return k * 2654435761u + 12345u;
}

// Kernel k of one of many bodies that are alike but for kernels, buffers and arguments.
inline void of_family(Run &run, uint32_t family, uint32_t k)
{
	run.launch(mix_kernels[(k * 3 + family) % MIX_KERNELS], 1, run.buffer[0], run.buffer[1 + k % 3],
	           constant(family * 1000 + k));
}

// bodies_same.cpp: the same in every iteration.
template <int LENGTH> void chain(Run &run, uint64_t)
{
	for (uint32_t k = 0; k < LENGTH; k++)
		run.launch(mix_kernels[0], 1, run.buffer[0], run.buffer[1], constant(k));
}

template <const void *const *KERNEL, int LENGTH> void chain_of(Run &run, uint64_t)
{
	for (uint32_t k = 0; k < LENGTH; k++)
		run.launch(*KERNEL, 1, run.buffer[0], run.buffer[1], constant(k));
}

void conjugate_gradient(Run &run, uint64_t iteration);
void thinking_long(Run &run, uint64_t iteration);
void thinking_briefly(Run &run, uint64_t iteration);
void mixed(Run &run, uint64_t iteration);

// bodies_changing.cpp: arguments, grids or kernels change from iteration to iteration.
template <int PERIOD> void swap(Run &run, uint64_t iteration)
{
	uint32_t *x = run.buffer[iteration % PERIOD], *y = run.buffer[(iteration + 1) % PERIOD];
	for (uint32_t k = 0; k < 100; k++)
		run.launch(mix_kernels[k % 2], 1, x, y, constant(k));
}

void one_changed(Run &run, uint64_t iteration);
void all_changed(Run &run, uint64_t iteration);
void grow(Run &run, uint64_t iteration);
void two_bodies(Run &run, uint64_t iteration);
void eight_bodies(Run &run, uint64_t iteration);
void extra_ops(Run &run, uint64_t iteration);
void changing_bodies(Run &run, uint64_t iteration);
void buckets(Run &run, uint64_t iteration);
void converge(Run &run, uint64_t iteration);
void many_loops(Run &run, uint64_t iteration);
void no_repeat(Run &run, uint64_t iteration);

// bodies_streams.cpp: several streams, and memory in the order of a stream.
void fork_join(Run &run, uint64_t iteration);
void jacobi(Run &run, uint64_t iteration);
void async_alloc(Run &run, uint64_t iteration);
