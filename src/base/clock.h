/* Time in nanoseconds since some fixed moment, without a system call on any machine that has a virtual clock page. */
#pragma once

#include <stdint.h>
#include <time.h>

#ifdef REPRISE_VIRTUAL_CLOCK
/* Benchmarks over recorded op streams move the time themselves. */
extern uint64_t reprise_clock_virtual;

static inline uint64_t reprise_clock_ns(void)
{
	return reprise_clock_virtual;
}
#else
static inline uint64_t reprise_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
#endif
