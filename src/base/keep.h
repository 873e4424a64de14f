/* Leaves each of the program's threads as it was: errno, floating point environment, signals. The
 * program's calls go to the driver as far as it knows, and a driver call changes none of these. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

static inline void reprise_errno_put_back(const int *kept)
{
	errno = *kept;
}

/* For all functions that doors call (entry/entry.h): errno is as before when they return. Functions
 * that these call need not keep it. */
#define REPRISE_KEEP_ERRNO \
	__attribute__((cleanup(reprise_errno_put_back), unused)) const int reprise_kept_errno = errno

struct reprise_float {
	uint64_t control, status;
};

/* Saves this thread's floating point environment and sets the default one: no traps, rounding to
 * nearest. Leaves the x87 stack, which Reprise does not use. */
static inline struct reprise_float reprise_float_take(void)
{
	struct reprise_float kept = {0, 0};

#if defined(__x86_64__)
	kept.control = __builtin_ia32_stmxcsr();
	__builtin_ia32_ldmxcsr(0x1f80);
#elif defined(__aarch64__)
	__asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr"
	                 : "=r"(kept.control), "=r"(kept.status));
#endif
	return kept;
}

static inline void reprise_float_put_back(const struct reprise_float *kept)
{
#if defined(__x86_64__)
	__builtin_ia32_ldmxcsr((unsigned int)kept->control);
#elif defined(__aarch64__)
	__asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(kept->control), "r"(kept->status));
#endif
}

/* In a function that computes with floating point numbers: the environment is as before when it
 * returns. */
#define REPRISE_KEEP_FLOAT \
	__attribute__((cleanup(reprise_float_put_back), unused)) \
	const struct reprise_float reprise_kept_float = reprise_float_take()

/* For Reprise's own threads: they inherit the environment of the thread that started them, with its
 * traps. */
static inline void reprise_float_begin(void)
{
#if defined(__x86_64__)
	__builtin_ia32_ldmxcsr(0x1f80);
	__asm__ volatile("fninit");
#elif defined(__aarch64__)
	__asm__ volatile("msr fpcr, xzr\n\tmsr fpsr, xzr");
#endif
}

/*
 * Writes everything, without side effects on the program. A reader that is gone, or a limit on file
 * sizes, would end it by a signal (SIGPIPE, SIGXFSZ); cancellation would end the thread within the
 * write; errno would change. Returns 0, or the error of the write that failed. Any thread, also
 * with locks held.
 */
int reprise_write(int file, const void *bytes, size_t count);
