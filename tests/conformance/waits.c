#include "waits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static atomic_bool returned, released;
static atomic_ulong launched_ms,
	released_ms; /* when a launch returned last, and when the stream was released */

static unsigned long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long)now.tv_sec * 1000 + (unsigned long)now.tv_nsec / 1000000;
}

void sleep_ms(unsigned ms)
{
	nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
}

static void *release_late(void *unused)
{
	(void)unused;
	for (unsigned ms = 0; ms < PATIENCE_MS && !returned; ms++)
		sleep_ms(1);
	released_ms = now_ms();
	released = !returned;
	release();
	return NULL;
}

static void *launch_meanwhile(void *unused)
{
	(void)unused;
	cuCtxSetCurrent(context);
	while (!returned && !released && launch("nothing", other, NULL) == CUDA_SUCCESS && !released) {
		launched_ms = now_ms();
		sleep_ms(1);
	}
	return NULL;
}

bool returns_beside_thread(void (*holds)(CUstream), void *(*meanwhile)(void *), unsigned after_ms,
                           void (*call)(void))
{
	pthread_t thread, releaser;

	holds(stream);
	returned = released = false;
	TRUE(pthread_create(&thread, NULL, meanwhile, NULL) == 0);
	sleep_ms(after_ms);
	TRUE(pthread_create(&releaser, NULL, release_late, NULL) == 0);
	call();
	returned = true;
	pthread_join(releaser, NULL);
	pthread_join(thread, NULL);
	finish(stream);
	return !released;
}

static bool returns_beside(void (*holds)(CUstream), void (*call)(void))
{
	bool returns;

	launched_ms = now_ms();
	returns = returns_beside_thread(holds, launch_meanwhile, 0, call);
	finish(other);
	return returns;
}

static bool launches_waited(void)
{
	return released_ms > launched_ms + PATIENCE_MS / 2;
}

void expect_return(void (*holds)(CUstream), void (*call)(void), const char *what)
{
	if (!returns_beside(holds, call))
		conformance_fail(
			__FILE__, __LINE__,
			"%s: expected a return before the stream's work ends, saw it wait, and launches of other threads %s",
			what, launches_waited() ? "too" : "not");
}

void expect_wait(void (*holds)(CUstream), void (*call)(void), const char *what, bool launches_wait)
{
	if (returns_beside(holds, call))
		conformance_fail(__FILE__, __LINE__,
		                 "%s: expected it to wait for the stream's work, saw it return", what);
	if (launches_waited() != launches_wait)
		conformance_fail(__FILE__, __LINE__,
		                 "%s: expected that other threads %s launch meanwhile, saw that they %s",
		                 what, launches_wait ? "cannot" : "can", launches_wait ? "can" : "cannot");
}

/* ---- how much may be pending ---- */

static atomic_uint pending;
static atomic_bool enough;
static void (*gives)(void);

static void *give_until_enough(void *unused)
{
	(void)unused;
	cuCtxSetCurrent(context);
	while (!enough && pending < TRIED_MOST) {
		gives();
		pending += !enough;
	}
	return NULL;
}

unsigned pending_at_wait(void (*holds)(CUstream), void (*give)(void))
{
	unsigned seen = 0, before = 1;
	pthread_t thread;

	holds(stream);
	enough = false;
	pending = 0;
	gives = give;
	TRUE(pthread_create(&thread, NULL, give_until_enough, NULL) == 0);
	while (seen != before) {
		before = seen;
		sleep_ms(PATIENCE_MS);
		seen = pending;
	}
	enough = true;
	release();
	pthread_join(thread, NULL);
	finish(stream);
	return seen;
}
