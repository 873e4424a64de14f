/*
 * Whatever libreprise.so calls of the C library changes errno, also where it succeeds, which the C
 * library may do. What fails leaves what it says.
 *
 *     LD_PRELOAD=libspoil.so:libreprise.so program
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "allocators.h"
#include "code.h"

#define SHOWN __attribute__((visibility("default")))

__attribute__((constructor)) static void set_up(void)
{
	code_find();
}

static void spoil(const void *caller, bool succeeded)
{
	if (succeeded && code_has(caller))
		errno = EILSEQ;
}

/* ---- memory ---- */

#define ALLOCATE(name, types, values) \
	SHOWN void *name types \
	{ \
		void *memory = behind_##name values; \
\
		spoil(__builtin_return_address(0), memory != NULL); \
		return memory; \
	}
ALLOCATE(malloc, (size_t bytes), (bytes))
ALLOCATE(calloc, (size_t count, size_t bytes), (count, bytes))
ALLOCATE(realloc, (void *memory_before, size_t bytes), (memory_before, bytes))
ALLOCATE(aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))

BEHIND_AS(free, __libc_free, void, (void *memory), (memory))
SHOWN void free(void *memory)
{
	behind_free(memory);
	spoil(__builtin_return_address(0), true);
}

/* ---- what is looked up ---- */

#define CALL(result_type, name, succeeds, types, values) \
	SHOWN result_type name types \
	{ \
		static __typeof__(&name) real; \
		result_type result; \
\
		if (real == NULL) \
			real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
		result = real values; \
		spoil(__builtin_return_address(0), succeeds); \
		return result; \
	}
CALL(int, nanosleep, result == 0, (const struct timespec *pause, struct timespec *left),
     (pause, left))
CALL(int, clock_gettime, result == 0, (clockid_t clock, struct timespec *now), (clock, now))
CALL(int, sched_yield, result == 0, (void), ())
CALL(int, sched_getaffinity, result == 0, (pid_t thread, size_t bytes, cpu_set_t *set),
     (thread, bytes, set))
CALL(int, sched_getscheduler, result >= 0, (pid_t thread), (thread))
CALL(int, getrlimit64, result == 0, (__rlimit_resource_t which, struct rlimit64 *limit),
     (which, limit))
CALL(int, pthread_create, true,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context),
     (thread, attributes, run, context))
CALL(int, pthread_key_create, true, (pthread_key_t * key, void (*destroy)(void *)), (key, destroy))
CALL(int, pthread_setspecific, true, (pthread_key_t key, const void *value), (key, value))
CALL(int, pthread_setcancelstate, true, (int state, int *before), (state, before))
CALL(int, pthread_sigmask, true, (int how, const sigset_t *set, sigset_t *before),
     (how, set, before))
CALL(int, close, result == 0, (int file), (file))
CALL(ssize_t, read, result >= 0, (int file, void *bytes, size_t count), (file, bytes, count))
CALL(int, fstat64, result == 0, (int file, struct stat64 *status), (file, status))
CALL(int, stat64, result == 0, (const char *path, struct stat64 *status), (path, status))
CALL(int, poll, result >= 0, (struct pollfd * files, nfds_t count, int timeout),
     (files, count, timeout))
CALL(void *, mmap64, result != MAP_FAILED,
     (void *at, size_t bytes, int protection, int flags, int file, off64_t offset),
     (at, bytes, protection, flags, file, offset))
CALL(char *, strndup, result != NULL, (const char *text, size_t most), (text, most))
CALL(char *, getenv, true, (const char *variable), (variable))

/* What more they are given, if anything, travels in registers. */
#define CALL_OF_MANY(result_type, name, first_type, count) \
	SHOWN result_type name(first_type first, ...) \
	{ \
		static result_type (*real)(first_type first, ...); \
		long more[6] = {0}; \
		result_type result; \
		va_list arguments; \
\
		if (real == NULL) \
			real = (__typeof__(real))dlsym(RTLD_NEXT, #name); \
		va_start(arguments, first); \
		for (int i = 0; i < count; i++) \
			more[i] = va_arg(arguments, long); \
		va_end(arguments); \
		result = real(first, more[0], more[1], more[2], more[3], more[4], more[5]); \
		spoil(__builtin_return_address(0), result >= 0); \
		return result; \
	}
CALL_OF_MANY(long, syscall, long, 6)
CALL_OF_MANY(int, prctl, int, 4)

SHOWN int open64(const char *path, int flags, ...)
{
	static __typeof__(&open64) real;
	va_list arguments;
	int mode, file;

	if (real == NULL)
		real = (__typeof__(&open64))dlsym(RTLD_NEXT, "open64");
	va_start(arguments, flags);
	mode = va_arg(arguments, int);
	va_end(arguments);
	file = real(path, flags, mode);
	spoil(__builtin_return_address(0), file >= 0);
	return file;
}
