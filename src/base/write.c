#include "write.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static bool write_all(int file, const char *bytes, size_t count)
{
	while (count > 0) {
		ssize_t written = write(file, bytes, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		count -= (size_t)written;
	}
	return true;
}

bool reprise_write(int file, const void *bytes, size_t count)
{
	static const struct timespec at_once;
	sigset_t raised, pending, before;
	int saved = errno, cancelled;
	bool whole;

	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigaddset(&raised, SIGXFSZ);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
	pthread_sigmask(SIG_BLOCK, &raised, &before);
	sigpending(&pending);
	whole = write_all(file, bytes, count);
	/* What was pending already is the program's. */
	if (sigismember(&pending, SIGPIPE))
		sigdelset(&raised, SIGPIPE);
	if (sigismember(&pending, SIGXFSZ))
		sigdelset(&raised, SIGXFSZ);
	while (!whole && sigtimedwait(&raised, NULL, &at_once) < 0 && errno == EINTR)
		continue;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_setcancelstate(cancelled, NULL);
	errno = saved;
	return whole;
}
