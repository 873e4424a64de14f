#include "thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

bool reprise_thread_start(void *(*run)(void *), const char *name)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attributes) != 0)
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
	return started;
}
