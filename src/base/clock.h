/*
 * Time: nanoseconds for comparison with limits, and ticks of the processor's counter for timing
 * every call, since reading the counter costs a third as much. Neither makes a system call on a
 * machine with a virtual clock page.
 */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t reprise_clock_read(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#ifdef REPRISE_VIRTUAL_CLOCK

/* Benchmarks over recorded op streams advance the time themselves. */
extern uint64_t reprise_clock_virtual;

static inline uint64_t reprise_clock_ns(void)
{
	return reprise_clock_virtual;
}

static inline uint64_t reprise_clock_ticks(void)
{
	return reprise_clock_virtual;
}

static inline uint64_t reprise_clock_common_ns(void)
{
	return reprise_clock_virtual + 3600000000000u; /* it begins elsewhere */
}

#else

static inline uint64_t reprise_clock_ns(void)
{
	return reprise_clock_read(CLOCK_MONOTONIC);
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

/* A clock that all processes of a machine have in common, and those of a cluster as far as its
 * clocks agree. Set by others: it may jump. */
static inline uint64_t reprise_clock_common_ns(void)
{
	return reprise_clock_read(CLOCK_REALTIME);
}

#endif

/*
 * The ticks from `begin` to `end`: 0 if `end` is not later. Counters of two processors may differ,
 * and that of a machine that was suspended or moved may begin anew.
 */
static inline uint64_t reprise_clock_elapsed(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

static inline uint64_t reprise_clock_since(uint64_t begin)
{
	return reprise_clock_elapsed(begin, reprise_clock_ticks());
}

/* Notes the counter's value. Called once, before the functions below. */
void reprise_clock_start(void);

/* Converts between ticks and nanoseconds, at the rate measured since reprise_clock_start(). */
uint64_t reprise_clock_ticks_to_ns(uint64_t ticks);
uint64_t reprise_clock_ns_to_ticks(uint64_t ns);

/* Nanoseconds from reprise_clock_start() to the counter value `ticks`; 0 if that is earlier. The
 * first call measures the rate, which then stays the same: so recorded times keep their order and
 * their nesting. */
uint64_t reprise_clock_steady_ns(uint64_t ticks);
