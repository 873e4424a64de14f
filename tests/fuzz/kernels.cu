/* Kernels of the fuzzer's programs. Each maps what it writes one to one, so that every lost, doubled, reordered or stale op shows. */
#include "kernel.h"

/* With padding in it, as functors have. */
struct functor {
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

KERNEL(stir, (unsigned *, x), (struct functor, by))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned value = x[i];

	for (unsigned round = 0; round < by.rounds; round++)
		value = value * (2u * by.odd + 1u) + (unsigned)by.addend + round;
	x[i] = value;
}

/* By one thread, with as much dynamic shared memory as it is launched with. */
KERNEL(shared_mix, (unsigned *, x), (unsigned, argument))
{
	KERNEL_SHARED(unsigned, scratch);

	if (threadIdx.x)
		return;
	scratch[0] = x[0] + argument;
	x[0] = scratch[0] * 69069u + 1u;
}

/* Waits until *flag has reached `value`; gives up after a long time, which shows in x. */
SPINNING_KERNEL(spin, (const volatile unsigned *, flag), (unsigned, value), (unsigned *, x))
{
	unsigned tries = 0;

	if (threadIdx.x)
		return;
	while (*flag < value && ++tries < 20000000u)
		KERNEL_PAUSE();
	x[0] = x[0] * 5u + (*flag >= value ? value : 0xdeadu);
}

KERNEL(signal, (volatile unsigned *, flag), (unsigned, value))
{
	if (threadIdx.x)
		return;
	__threadfence_system();
	*flag = value;
	__threadfence_system();
}
