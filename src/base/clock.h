/*
 * Time: nanoseconds where they are compared with limits, and ticks of the processor's counter where
 * every call is timed, since reading that costs a third. Neither makes a system call on a machine
 * that has a virtual clock page.
 */
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

static inline uint64_t reprise_clock_ticks(void)
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

static inline uint64_t reprise_clock_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return reprise_clock_ns();
#endif
}

#endif

/* Notes where the counter stands; once, before the function below is used. */
void reprise_clock_start(void);

/* What it stood at then. */
uint64_t reprise_clock_start_ticks(void);

/* How many nanoseconds so many ticks are, as measured since reprise_clock_start(). */
uint64_t reprise_clock_ticks_to_ns(uint64_t ticks);
uint64_t reprise_clock_ns_to_ticks(uint64_t ns);

/*
 * The nanoseconds from reprise_clock_start() to where the counter stood at `ticks`, at a rate that
 * is measured when this is first called and is the same from then on: so of two times that are
 * written down, what came first is first, and what is within the other stays there.
 */
uint64_t reprise_clock_steady_ns(uint64_t ticks);
