/*
 * Reprise takes long to start: sched_getaffinity, which it calls then, returns after 300 ms where
 * libreprise.so calls it for the first time.
 *
 *     LD_PRELOAD=libslowstart.so:libreprise.so program
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "code.h"

static atomic_bool was_slow;

__attribute__((constructor)) static void set_up(void)
{
	code_find();
}

__attribute__((visibility("default"))) int sched_getaffinity(pid_t thread, size_t bytes,
                                                             cpu_set_t *set)
{
	int (*behind)(pid_t, size_t, cpu_set_t *) =
		(__typeof__(behind))dlsym(RTLD_NEXT, "sched_getaffinity");

	if (code_has(__builtin_return_address(0)) && !atomic_exchange(&was_slow, true))
		nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
	return behind(thread, bytes, set);
}
