#include "control/clients.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/tuning.h"

#define SENT_AT_ONCE 65536 /* bytes */

/* In the order in which they came. */
static struct client {
	int connection;
	int answer; /* a file; -1: no word has come yet */
	char word[REPRISE_CONTROL_WORD_MOST];
	size_t length;
	uint64_t came_ns;
	uint64_t heard_ns; /* when the client last sent or took something */
} clients[REPRISE_CLIENTS_MOST];

static unsigned int count;

static void drop(unsigned int i)
{
	if (clients[i].answer >= 0)
		close(clients[i].answer);
	close(clients[i].connection);
	count--;
	memmove(&clients[i], &clients[i + 1], (count - i) * sizeof(clients[0]));
}

/* Files or memory ran out: drops the oldest client, or waits for a while. */
static void wait_for_more(void)
{
	if (count > 0)
		drop(0);
	else
		nanosleep(&(struct timespec){.tv_nsec = REPRISE_TUNE_CONTROL_SHORT_NS}, NULL);
}

/* ---- one client ---- */

static bool is_for_later(ssize_t result)
{
	return result < 0 && (errno == EAGAIN || errno == EINTR);
}

/* False when all is sent, or the client does not take it. */
static bool answer(struct client *client)
{
	ssize_t sent = sendfile(client->connection, client->answer, NULL, SENT_AT_ONCE);

	if (sent > 0)
		client->heard_ns = reprise_clock_ns();
	return sent > 0 || is_for_later(sent);
}

/* False if the client is done. */
static bool hear(struct client *client, reprise_clients_obey obey)
{
	ssize_t got = recv(client->connection, client->word + client->length,
	                   sizeof(client->word) - 1 - client->length, MSG_DONTWAIT);

	if (got < 0)
		return is_for_later(got);
	client->length += (size_t)got;
	if (got > 0 && client->length < sizeof(client->word) - 1 &&
	    memchr(client->word, '\n', client->length) == NULL)
		return true;
	client->word[client->length] = '\0';
	client->word[strcspn(client->word, "\n")] = '\0';
	client->answer = obey(client->connection, reprise_control_word(client->word));
	client->heard_ns = reprise_clock_ns();
	return client->answer >= 0;
}

static bool see_to(struct client *client, reprise_clients_obey obey)
{
	return client->answer >= 0 ? answer(client) : hear(client, obey);
}

/* ---- all of them ---- */

static void admit(int connection)
{
	uint64_t now = reprise_clock_ns();

	if (!reprise_control_trusts(connection, 0)) {
		close(connection);
		return;
	}
	if (count == REPRISE_CLIENTS_MOST)
		drop(0);
	clients[count++] =
		(struct client){.connection = connection, .answer = -1, .came_ns = now, .heard_ns = now};
}

/* False if the listener has failed for good. A lack of files or memory may be temporary. */
static bool accept_one(int listener)
{
	int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (connection >= 0)
		admit(connection);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		wait_for_more();
	else
		return errno == EINTR || errno == EAGAIN || errno == ECONNABORTED;
	return true;
}

/* True while the slots are all taken and the oldest client still has its moment: no connection is
 * accepted then. */
static bool is_full(uint64_t now)
{
	return count == REPRISE_CLIENTS_MOST &&
	       now - clients[0].came_ns < REPRISE_TUNE_CONTROL_MOMENT_NS;
}

/* How long to wait if nothing happens, in milliseconds for poll(2); -1: for ever. */
static int patience(uint64_t now)
{
	uint64_t left =
		is_full(now) ? REPRISE_TUNE_CONTROL_MOMENT_NS : REPRISE_TUNE_CONTROL_PATIENCE_NS;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t quiet = now - clients[i].heard_ns;

		if (quiet >= REPRISE_TUNE_CONTROL_PATIENCE_NS)
			return 0;
		if (REPRISE_TUNE_CONTROL_PATIENCE_NS - quiet < left)
			left = REPRISE_TUNE_CONTROL_PATIENCE_NS - quiet;
	}
	return count > 0 ? (int)(left / 1000000 + 1) : -1;
}

bool reprise_clients_wait(int listener, reprise_clients_obey obey)
{
	struct pollfd files[REPRISE_CLIENTS_MOST + 1];
	uint64_t now = reprise_clock_ns();

	files[0] = (struct pollfd){.fd = is_full(now) ? -1 : listener, .events = POLLIN};
	for (unsigned int i = 0; i < count; i++)
		files[i + 1] = (struct pollfd){.fd = clients[i].connection,
		                               .events = clients[i].answer >= 0 ? POLLOUT : POLLIN};
	if (poll(files, count + 1, patience(now)) < 0) {
		if (errno != EINTR) /* more files than the process may have, or no memory */
			wait_for_more();
		return true;
	}
	if (reprise_filters_came()) /* new system call filters may forbid the work for a client */
		return false;
	now = reprise_clock_ns();
	for (unsigned int i = count; i-- > 0;) /* from the end: drop() moves later ones down */
		if (files[i + 1].revents != 0
		        ? !see_to(&clients[i], obey)
		        : now - clients[i].heard_ns >= REPRISE_TUNE_CONTROL_PATIENCE_NS)
			drop(i);
	return files[0].revents == 0 || accept_one(listener);
}
