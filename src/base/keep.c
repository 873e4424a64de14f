#include "base/keep.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static int write_all(int file, const char *bytes, size_t count)
{
	while (count > 0) {
		ssize_t written = write(file, bytes, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written == 0 ? ENOSPC : errno;
		bytes += written;
		count -= (size_t)written;
	}
	return 0;
}

/* The signal that a write with this error raises; 0: none. */
static int signal_of(int error)
{
	return error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
}

int reprise_write(int file, const void *bytes, size_t count)
{
	static const struct timespec at_once;
	sigset_t raised, pending, before;
	int saved = errno, cancelled, error, sent;

	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigaddset(&raised, SIGXFSZ);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
	pthread_sigmask(SIG_BLOCK, &raised, &before);
	sigpending(&pending);
	error = write_all(file, bytes, count);
	/* Takes back only the signal that this write raised. A signal that was pending before belongs
	 * to the program, and so does any other that comes meanwhile. */
	sent = signal_of(error);
	sigemptyset(&raised);
	if (sent != 0)
		sigaddset(&raised, sent);
	while (sent != 0 && !sigismember(&pending, sent) && sigtimedwait(&raised, NULL, &at_once) < 0 &&
	       errno == EINTR)
		continue;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_setcancelstate(cancelled, NULL);
	errno = saved;
	return error;
}
