#include "thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "clock.h"
#include "hot.h"
#include "log.h"
#include "tls.h"

#define PAUSE_NS 10000000u /* after a failure, no thread is asked for during so long: a failure costs tens of microseconds */

static _Atomic uint64_t failed_at; /* 0: never */

REPRISE_HOT uint32_t reprise_thread_self(void)
{
	static _Atomic uint32_t threads;
	static _Thread_local uint32_t self __attribute__((tls_model(REPRISE_TLS_MODEL)));

	if (__builtin_expect(self == 0, 0))
		self = atomic_fetch_add(&threads, 1) + 1;
	return self;
}

static void note_failure(void)
{
	if (atomic_exchange(&failed_at, reprise_clock_ns()) == 0)
		reprise_log(REPRISE_LOG_WARNING, "no thread could be started: nothing will be replayed until one can");
}

bool reprise_thread_start(void *(*run)(void *), const char *name)
{
	uint64_t failed = atomic_load(&failed_at);
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	bool started;

	if ((failed != 0 && reprise_clock_ns() - failed < PAUSE_NS) || pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 1 << 20); /* the driver's own frames are large */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &attributes, run, NULL) == 0;
	if (started)
		pthread_setname_np(thread, name);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (!started)
		note_failure();
	return started;
}
