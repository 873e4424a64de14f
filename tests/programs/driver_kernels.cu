/*
 * Kernels of the driver-API programs and tests, for the GPU and for the simulation.
 * Each maps x to itself one to one, element by element, so that every lost, doubled, reordered or stale op shows in the end.
 */
#include "kernel.h"

/* A structure with padding, as functors have. */
struct stir {
	unsigned char rounds;
	unsigned short odd;
	unsigned long long addend;
};

KERNEL(mix, (unsigned *, x), (const unsigned *, y), (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = x[i] * 1664525u + 2u * y[i] + argument;
}

KERNEL(turn, (unsigned *, x), (const unsigned *, y), (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = (x[i] * 22695477u + argument) ^ (x[i] << 5) ^ (y[i] << 1);
}

KERNEL(stir, (unsigned *, x), (struct stir, by))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned value = x[i];

	for (unsigned round = 0; round < by.rounds; round++)
		value = value * (2u * by.odd + 1u) + (unsigned)by.addend + round;
	x[i] = value;
}

/* One number for all of x, in order. */
KERNEL(fold, (const unsigned *, x), (unsigned, count), (unsigned *, result))
{
	unsigned value = 0;

	if (threadIdx.x || blockIdx.x)
		return;
	for (unsigned i = 0; i < count; i++)
		value = value * 69069u + x[i];
	*result = value;
}
