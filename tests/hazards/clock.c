/*
 * A clock that jumps: for libreprise.so, the time since the start jumps ahead by an hour at each
 * 97th reading, as where a machine is suspended, and the time of day back and forth by a day.
 *
 *     LD_PRELOAD=libclock.so:libreprise.so program
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>

#include "code.h"

#define HOUR 3600

static _Atomic unsigned readings, of_day;

__attribute__((constructor)) static void set_up(void)
{
	code_find();
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
	static __typeof__(&clock_gettime) behind;
	int result;

	if (!behind)
		behind = (__typeof__(behind))dlsym(RTLD_NEXT, "clock_gettime");
	result = behind(clock, time);
	if (!code_has(__builtin_return_address(0)))
		return result;
	if (clock == CLOCK_MONOTONIC)
		time->tv_sec += (time_t)(atomic_fetch_add(&readings, 1) / 97) * HOUR;
	else
		time->tv_sec += atomic_fetch_add(&of_day, 1) % 2 == 0 ? 24 * HOUR : -24 * HOUR;
	return result;
}
