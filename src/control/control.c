/* The thread gives itself a file table of its own before it opens the socket. If it cannot have
 * one, there is no control. */
#include "control/control.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/keep.h"
#include "base/log.h"
#include "base/options.h"
#include "base/thread.h"
#include "base/tuning.h"
#include "lane/eager.h"
#include "lane/order.h"
#include "report/report.h"
#include "control/clients.h"
#include "control/peer.h"

#define BACKLOG 64

static _Atomic bool off; /* told by `reprise ctl off` */

static int open_listener(void)
{
	struct sockaddr_un address;
	socklen_t length = reprise_control_address(&address, getpid());
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (listener >= 0 && bind(listener, (const struct sockaddr *)&address, length) == 0 &&
	    listen(listener, BACKLOG) == 0)
		return listener;
	if (listener >= 0) {
		REPRISE_KEEP_ERRNO;

		close(listener);
	}
	return -1;
}

static void turn_off(void)
{
	if (!atomic_exchange(&off, true))
		reprise_pause_begin();
	if (reprise_stopped() == NULL)
		reprise_lanes_barrier(false);
}

static void turn_on(void)
{
	if (atomic_exchange(&off, false))
		reprise_pause_end();
}

/* These are the connection's first few bytes: there is room for them. */
static void say(int peer, const char *text)
{
	send(peer, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The report is written to memory first: a slow reader must not block the process's own report. */
static int make_report(void)
{
	int file = memfd_create("report", MFD_CLOEXEC);

	if (file < 0 || (reprise_report_now(file) && lseek(file, 0, SEEK_SET) == 0))
		return file;
	close(file);
	return -1;
}

static int obey(int peer, enum reprise_control_word word)
{
	switch (word) {
	case REPRISE_CONTROL_ON:
		turn_on();
		say(peer, "on\n");
		return -1;
	case REPRISE_CONTROL_OFF:
		turn_off();
		say(peer, "off\n");
		return -1;
	case REPRISE_CONTROL_REPORT:
		return make_report();
	default:
		say(peer, "no such word\n");
		return -1;
	}
}

/* True if files or memory ran out, which may be temporary. */
static bool is_short(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void *run(void *unused)
{
	int listener;
	char room[128];

	reprise_inside = REPRISE_INSIDE_FOR_GOOD;
	if (!reprise_thread_own_files(true)) { /* keeps stderr open for the warnings below */
		reprise_log(
			REPRISE_LOG_WARNING,
			"the process cannot be controlled: the kernel is older than Linux 5.9, or forbids close_range");
		return NULL;
	}
	while ((listener = open_listener()) < 0 && is_short(errno))
		nanosleep(&(struct timespec){.tv_nsec = REPRISE_TUNE_CONTROL_SHORT_NS}, NULL);
	if (listener < 0)
		reprise_log(REPRISE_LOG_WARNING, "the process cannot be controlled: %s",
		            errno == EADDRINUSE ? "its socket's name is taken"
		                                : strerror_r(errno, room, sizeof(room)));
	if (listener != STDERR_FILENO)
		close(STDERR_FILENO);
	while (listener >= 0 && reprise_clients_wait(listener, obey))
		continue;
	if (listener >= 0)
		close(listener);
	return NULL;
}

void reprise_control_begin(void)
{
	if (reprise_option(REPRISE_OPTION_CONTROL) != 0)
		reprise_thread_start(run, "reprise-control");
}

void reprise_control_reset(void)
{
	turn_on();
}
