/*
 * The kernels of the examples and of the simulation's own tests. Arithmetic is unsigned and order-sensitive: one launch lost,
 * doubled, reordered or given stale parameters changes the result.
 */
#include "kernel.h"

struct weights {
	unsigned add;
	unsigned multiply;
	unsigned table[1100]; /* more than 4 KB */
};

GLOBAL(unsigned, launches);

DEVICE unsigned mix(unsigned value, unsigned multiply, unsigned add)
{
	return (value ^ value >> 15) * multiply + add;
}

KERNEL(nothing)
{
}

/* data[i] = mix(data[i]) */
KERNEL(step, (unsigned *, data), (unsigned, count), (unsigned, multiply), (unsigned, add))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		data[i] = mix(data[i], multiply, add + i);
}

/* target[i] = mix(target[i]) ^ source[i] */
KERNEL(combine, (unsigned *, target), (const unsigned *, source), (unsigned, count))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		target[i] = mix(target[i], 2654435761u, i) ^ source[i];
}

/* One thread: appends a value to a list that begins with its length. */
KERNEL(append, (unsigned *, list), (unsigned, value))
{
	list[++list[0]] = value;
}

/* Parameters of mixed sizes, with padding between and inside them. */
KERNEL(mixed, (unsigned char, small), (double, wide), (struct weights, weights), (unsigned *, result))
{
	*result = *result * weights.multiply + weights.table[1099] + weights.add + small + (unsigned)wide;
}

KERNEL(count_launch)
{
	launches += 1;
}

KERNEL(set_flag, (unsigned *, flag), (unsigned, value))
{
	__threadfence_system();
	*(volatile unsigned *)flag = value;
}

/* One thread: waits until *flag is at least the value, then adds one to *result. */
SPINNING_KERNEL(wait_flag, (unsigned *, flag), (unsigned, value), (unsigned *, result))
{
	while (*(volatile unsigned *)flag < value)
		KERNEL_PAUSE();
	*result += 1;
}

/* One thread of two that count *ball up to a number in turns, the even ones or the odd ones. */
SPINNING_KERNEL(volley, (unsigned *, ball), (unsigned, odd), (unsigned, end))
{
	while (*(volatile unsigned *)ball < end) {
		if (*(volatile unsigned *)ball % 2 == odd)
			*(volatile unsigned *)ball += 1;
		KERNEL_PAUSE();
	}
}

KERNEL(fault)
{
	KERNEL_TRAP();
}

KERNEL(fill_shared, (unsigned *, result), (unsigned, count))
{
	KERNEL_SHARED(unsigned, scratch);
	unsigned i;

	if (threadIdx.x != 0)
		return;
	for (i = 0; i < count; i++)
		scratch[i] = i * i;
	for (i = 0; i < count; i++)
		result[i] += scratch[count - 1 - i];
}
