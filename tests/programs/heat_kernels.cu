/*
 * The heat equation on a square, explicitly, five points a step; its edge keeps the temperature it began with.
 * One source for the GPU and for the simulation. All sums have a fixed order, and no multiplication is fused with an
 * addition (see meson.build), so results are the same to the last bit wherever they are computed.
 */
#include "kernel.h"

KERNEL(heat_step, (const double *, from), (double *, to), (unsigned, size), (double, rate))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned row = i / size, column = i % size;

	if (row == 0 || row >= size - 1 || column == 0 || column == size - 1)
		return;
	to[i] = from[i] + rate * (from[i - 1] + from[i + 1] + from[i - size] + from[i + size] - 4.0 * from[i]);
}

/* How much the last step changed each row, squared. */
KERNEL(heat_rows, (const double *, from), (const double *, to), (double *, rows), (unsigned, size))
{
	unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0;

	if (row >= size)
		return;
	for (unsigned column = 0; column < size; column++) {
		double change = to[row * size + column] - from[row * size + column];

		sum += change * change;
	}
	rows[row] = sum;
}

KERNEL(heat_total, (const double *, rows), (double *, total), (unsigned, size))
{
	double sum = 0;

	if (threadIdx.x || blockIdx.x)
		return;
	for (unsigned row = 0; row < size; row++)
		sum += rows[row];
	*total = sum;
}
