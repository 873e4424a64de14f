/*
 * Kernels of the driver-API programs and tests, for the GPU and for the simulation.
 * Each maps x to itself one to one, element by element, so that every lost, doubled, reordered or stale op shows in the end.
 */
#include <stdio.h>

#include "kernel.h"

/* A structure with padding, as functors have. */
struct stir {
	unsigned char rounds;
	unsigned short odd;
	unsigned long long addend;
};

/* More than the 4 KB of parameters that there once could be. */
struct large {
	unsigned words[1100];
};

/* Some pages, none of which is anything else's. */
struct pages {
	unsigned words[4096];
};

GLOBAL(struct pages, pages);

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

#ifndef __CUDACC__ /* which has such names for what is C++ */
/* By the names that compilers give instances of templates: void chain::turn<unsigned int>(unsigned
 * int*, unsigned int const*, unsigned int), and chain::turn_back, which begins alike. */
KERNEL(_ZN5chain4turnIjEEvPT_PKS1_S1_, (unsigned *, x), (const unsigned *, y), (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = (x[i] * 22695477u + argument) ^ (y[i] << 3);
}

KERNEL(_ZN5chain9turn_backIjEEvPT_PKS1_S1_, (unsigned *, x), (const unsigned *, y),
       (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = (x[i] ^ (x[i] >> 7)) * 1664525u + 2u * y[i] + argument;
}
#endif

KERNEL(stir, (unsigned *, x), (struct stir, by))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned value = x[i];

	for (unsigned round = 0; round < by.rounds; round++)
		value = value * (2u * by.odd + 1u) + (unsigned)by.addend + round;
	x[i] = value;
}

/* One thread: counts. */
KERNEL(tally, (unsigned *, counts), (unsigned, place))
{
	counts[place]++;
}

/* Every word of a large structure, near its end most of all. */
KERNEL(stir_large, (unsigned *, x), (struct large, by))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = (x[i] * 1664525u + by.words[i]) ^ by.words[1099 - i];
}

/* One thread: for the host, or a kernel elsewhere, to see. */
KERNEL(publish, (volatile unsigned *, flag), (unsigned, value))
{
	__threadfence_system();
	*flag = value;
}

/* One thread: runs until the flag is at least the value. */
SPINNING_KERNEL(await, (volatile unsigned *, flag), (unsigned, value))
{
	while (*flag < value)
		KERNEL_PAUSE();
}

/* As mix, but faults if it is told to. */
KERNEL(fault, (unsigned *, x), (const unsigned *, y), (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (argument == 0xdead)
		KERNEL_TRAP();
	x[i] = x[i] * 1664525u + 2u * y[i] + argument;
}

/* One thread: a line of output. */
KERNEL(say, (unsigned, value))
{
	printf("device %u\n", value);
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
