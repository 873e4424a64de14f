/*
 * The heat equation on a square, explicitly, five points a step; its edge keeps the temperature it began with.
 * One source for the GPU and for the simulation. All sums have a fixed order, and no multiplication is fused with an
 * addition (see meson.build), so results are the same to the last bit wherever they are computed.
 */
#include "kernel.h"

/* How many numbers one thread adds up; the same again over the sums, until one is left. */
#define HEAT_FOLD 16u

KERNEL(heat_step, (const double *, from), (double *, to), (unsigned, size), (double, rate))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned row = i / size, column = i % size;

	if (row == 0 || row >= size - 1 || column == 0 || column == size - 1)
		return;
	to[i] = from[i] + rate * (from[i - 1] + from[i + 1] + from[i - size] + from[i + size] - 4.0 * from[i]);
}

/* The same for `count` rows from row `first` of the square on, which are all there is in `from` and `to`, between a row above them and one below. */
KERNEL(heat_strip, (const double *, from), (const double *, above), (const double *, below), (double *, to), (unsigned, size), (double, rate),
	(unsigned, first), (unsigned, count))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned row = i / size, column = i % size;

	if (row >= count || first + row == 0 || first + row >= size - 1 || column == 0 || column == size - 1)
		return;

	double north = row > 0 ? from[i - size] : above[column], south = row + 1 < count ? from[i + size] : below[column];

	to[i] = from[i] + rate * (from[i - 1] + from[i + 1] + north + south - 4.0 * from[i]);
}

/* How much the last step changed the cells, squared: one sum for each FOLD of them. */
KERNEL(heat_change, (const double *, from), (const double *, to), (double *, sums), (unsigned, count))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0;

	for (unsigned cell = i * HEAT_FOLD; cell < (i + 1) * HEAT_FOLD && cell < count; cell++) {
		double change = to[cell] - from[cell];

		sum += change * change;
	}
	if (i * HEAT_FOLD < count)
		sums[i] = sum;
}

/* Adds up each FOLD of the numbers. */
KERNEL(heat_fold, (const double *, from), (double *, to), (unsigned, count))
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0;

	for (unsigned part = i * HEAT_FOLD; part < (i + 1) * HEAT_FOLD && part < count; part++)
		sum += from[part];
	if (i * HEAT_FOLD < count)
		to[i] = sum;
}
