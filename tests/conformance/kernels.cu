/* The kernels of the conformance suite, for the GPU and for the simulation. */
#include "kernel.h"

struct table {
	unsigned add;
	unsigned value[500];
};

GLOBAL(unsigned, counter);

KERNEL(nothing)
{
}

/* One thread: appends a value to a list that begins with its length. */
KERNEL(append, (unsigned *, list), (unsigned, value))
{
	list[++list[0]] = value;
}

/* The same code under another name and with another effect: its value counts double. */
KERNEL(append_double, (unsigned *, list), (unsigned, value))
{
	list[++list[0]] = 2 * value;
}

/* Parameters of mixed sizes, with padding between them. */
KERNEL(mixed, (unsigned char, small), (double, wide), (struct table, table), (unsigned *, result))
{
	*result = table.value[499] + table.add + small + (unsigned)wide;
}

KERNEL(count)
{
	atomicAdd(&counter, 1u);
}

KERNEL(shape, (unsigned *, result))
{
	if (threadIdx.x || threadIdx.y || threadIdx.z || blockIdx.x || blockIdx.y || blockIdx.z)
		return;
	result[0] = gridDim.x;
	result[1] = gridDim.y;
	result[2] = gridDim.z;
	result[3] = blockDim.x;
	result[4] = blockDim.y;
	result[5] = blockDim.z;
}

KERNEL(shared, (unsigned *, result), (unsigned, last))
{
	KERNEL_SHARED(unsigned, scratch);

	scratch[last] = 7;
	*result = scratch[last];
}

KERNEL(set_flag, (unsigned *, flag), (unsigned, value))
{
	__threadfence_system();
	*(volatile unsigned *)flag = value;
}

/* One thread: waits until *flag is at least the value. */
SPINNING_KERNEL(wait_flag, (unsigned *, flag), (unsigned, value))
{
	while (*(volatile unsigned *)flag < value)
		KERNEL_PAUSE();
	__threadfence_system();
}

KERNEL(trap)
{
	KERNEL_TRAP();
}
