// Wall and CPU clocks, in microseconds.
#pragma once

#include <ctime>

static inline double clock_us(clockid_t clock)
{
	timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

// The host's own work: it keeps the CPU busy for the given time.
static inline void spin_us(double us)
{
	double end = clock_us(CLOCK_MONOTONIC) + us;
	while (clock_us(CLOCK_MONOTONIC) < end)
		;
}
