/* For the simulation: kernels as if linked with the device runtime, which has this variable. */
#include "kernel.h"

GLOBAL(unsigned, __CNPRT_VERSION_NUMBER__);

KERNEL(mix, (unsigned *, x), (const unsigned *, y), (unsigned, argument))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = x[i] * 1664525u + 2u * y[i] + argument;
}
