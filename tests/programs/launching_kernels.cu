/* For the simulation: kernels as if linked with the device runtime, which has this variable. One
 * counts as launching kernels itself. */
#include "kernel.h"

GLOBAL(unsigned, __CNPRT_VERSION_NUMBER__);

LAUNCHING_KERNEL(mix, (unsigned *, x), (const unsigned *, y), (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = x[i] * 1664525u + 2u * y[i] + argument;
}

KERNEL(blend, (unsigned *, x), (const unsigned *, y), (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = x[i] * 1664525u + 3u * y[i] + argument;
}
