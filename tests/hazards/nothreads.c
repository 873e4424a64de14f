/*
 * Threads that Reprise alone cannot have: pthread_create fails where libreprise.so calls it. Or
 * that it has long before it knows: pthread_create returns late, as where the scheduler takes the
 * processor away just then.
 *
 *     LD_PRELOAD=libnothreads.so:libreprise.so NO_THREADS=N program      the first N threads of Reprise's
 *     LD_PRELOAD=libnothreads.so:libreprise.so LATE_THREADS=N program    so many milliseconds late
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Atomic long asked_for;

static bool asked_by_reprise(const void *caller)
{
	const char *name;
	Dl_info info;

	if (dladdr(caller, &info) == 0)
		return false;
	name = strrchr(info.dli_fname, '/');
	return name != NULL && strcmp(name, "/libreprise.so") == 0;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*run)(void *), void *argument)
{
	__typeof__(&pthread_create) real =
		(__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
	const char *most = getenv("NO_THREADS"), *late = getenv("LATE_THREADS");
	bool by_reprise = asked_by_reprise(__builtin_return_address(0));
	int result;

	if (most != NULL && by_reprise && asked_for++ < atol(most))
		return EAGAIN;
	result = real(thread, attributes, run, argument);
	if (late != NULL && by_reprise)
		nanosleep(&(struct timespec){.tv_nsec = atol(late) * 1000000}, NULL);
	return result;
}
