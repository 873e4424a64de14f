/* The kernels of launchbound for the simulated driver: launchbound/kernels.cu says what they keep.
 * Threads run one after another here, so no kernel looks at a neighbour's word. */
#include "kernel.h"

#define MIX(name, factor) \
	KERNEL(name, (unsigned *, x), (const unsigned *, y), (unsigned, argument)) \
	{ \
		unsigned i = blockIdx.x * blockDim.x + threadIdx.x; \
\
		x[i] = x[i] * factor + 2u * y[i] + argument; \
	} \
	_Static_assert(factor % 2, "else words are forgotten")

MIX(mix0, 1664525u);
MIX(mix1, 22695477u);
MIX(mix2, 1103515245u);
MIX(mix3, 134775813u);
MIX(mix4, 214013u);
MIX(mix5, 69069u);
MIX(mix6, 1812433253u);
MIX(mix7, 2891336453u);

KERNEL(work, (unsigned *, x), (const unsigned *, y), (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned value = x[i];

	for (unsigned step = 0; step < 4; step++)
		value = (value * 1664525u + argument) ^ (value << 5);
	x[i] = value + 2u * y[i];
}
