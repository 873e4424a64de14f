/*
 * The socket is in the thread's own file table, which it makes empty before anything else: a program that closes all files does not close
 * ours and is not given its number, one that looks at its files does not see it, and a child does not inherit it. What other threads have open is
 * not kept open here (close_range(2), CLOSE_RANGE_UNSHARE: Linux 5.9; on an older one there is no control).
 */
#include "control.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/inside.h"
#include "../base/keep.h"
#include "../base/log.h"
#include "../base/options.h"
#include "../base/thread.h"
#include "../lane/doors.h"
#include "../lane/eager.h"
#include "../lane/order.h"
#include "../report/report.h"
#include "peer.h"

#define BACKLOG 8
#define SHORT_NS 100000000 /* before another try for what is short */
#define PATIENCE_MS 1000
#define SENT_AT_ONCE 65536 /* bytes */

static _Atomic bool off; /* by a word from outside */

/* All but stderr, for as long as there may be something to say. */
static bool have_own_files(void)
{
	return syscall(SYS_close_range, STDERR_FILENO + 1u, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0 && syscall(SYS_close_range, 0u, STDERR_FILENO - 1u, 0) == 0;
}

static int open_listener(void)
{
	struct sockaddr_un address;
	socklen_t length = reprise_control_address(&address, getpid());
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listener >= 0 && bind(listener, (const struct sockaddr *)&address, length) == 0 && listen(listener, BACKLOG) == 0)
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

static void send_all(int peer, const char *bytes, size_t count)
{
	while (count > 0) {
		ssize_t sent = send(peer, bytes, count, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		bytes += sent;
		count -= (size_t)sent;
	}
}

static void say(int peer, const char *text)
{
	send_all(peer, text, strlen(text));
}

/* In memory first: who reads slowly, or not at all, is not to keep the process from its own report. */
static void send_report(int peer)
{
	int file = memfd_create("report", MFD_CLOEXEC);

	if (file < 0)
		return;
	if (reprise_report_now(file) && lseek(file, 0, SEEK_SET) == 0)
		while (sendfile(peer, file, NULL, SENT_AT_ONCE) > 0)
			;
	close(file);
}

static void obey(int peer, enum reprise_control_word word)
{
	switch (word) {
	case REPRISE_CONTROL_ON:
		turn_on();
		say(peer, "on\n");
		return;
	case REPRISE_CONTROL_OFF:
		turn_off();
		say(peer, "off\n");
		return;
	case REPRISE_CONTROL_REPORT:
		send_report(peer);
		return;
	default:
		say(peer, "no such word\n");
		return;
	}
}

/* The word before the newline; "" if none comes in time. */
static void hear(int peer, char word[REPRISE_CONTROL_WORD_MOST])
{
	size_t length = 0;
	ssize_t got;

	while (length < REPRISE_CONTROL_WORD_MOST - 1 && memchr(word, '\n', length) == NULL &&
	       (got = recv(peer, word + length, REPRISE_CONTROL_WORD_MOST - 1 - length, 0)) > 0)
		length += (size_t)got;
	word[length] = '\0';
	word[strcspn(word, "\n")] = '\0';
}

static void serve(int peer)
{
	char word[REPRISE_CONTROL_WORD_MOST];

	if (!reprise_control_trusts(peer, 0))
		return;
	reprise_control_be_patient(peer, PATIENCE_MS);
	hear(peer, word);
	obey(peer, reprise_control_word(word));
}

/* False if there is nothing more to wait for. What is short now, files or memory, may be had later. */
static bool passes(int error)
{
	if (error == EINTR || error == ECONNABORTED)
		return true;
	if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM)
		return false;
	nanosleep(&(struct timespec){.tv_nsec = SHORT_NS}, NULL);
	return true;
}

static void *run(void *unused)
{
	int listener, peer;

	reprise_inside = REPRISE_INSIDE_FOR_GOOD;
	if (!have_own_files()) {
		reprise_log(REPRISE_LOG_WARNING, "no control: the kernel is older than Linux 5.9, or forbids close_range");
		return NULL;
	}
	while ((listener = open_listener()) < 0 && passes(errno))
		continue;
	if (listener < 0)
		reprise_log(REPRISE_LOG_WARNING, "no control: %s", errno == EADDRINUSE ? "the socket's name is taken" : "there can be no socket");
	if (listener != STDERR_FILENO)
		close(STDERR_FILENO);
	while (listener >= 0) {
		peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (peer >= 0) {
			serve(peer);
			close(peer);
		} else if (!passes(errno)) {
			close(listener);
			listener = -1;
		}
	}
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
