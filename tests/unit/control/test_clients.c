/* Who is connected to the socket of control: nobody keeps another waiting, and there are never more
 * than there may be. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../../suite.h"
#include "control/clients.h"

#define ANSWER_BYTES (4u << 20) /* more than a socket takes at once */
#define PATIENCE_S 20

static struct sockaddr_un address;
static socklen_t address_length;
static int listener;
static _Atomic bool over;
static pthread_t server;

static int obey(int connection, enum reprise_control_word word)
{
	int file;

	if (word != REPRISE_CONTROL_REPORT) {
		send(connection, word == REPRISE_CONTROL_ON ? "on" : "?",
		     word == REPRISE_CONTROL_ON ? 2 : 1, MSG_NOSIGNAL);
		return -1;
	}
	file = memfd_create("answer", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(file, ANSWER_BYTES), 0);
	return file;
}

static void *serve(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL); /* as in the library's threads */
	while (!atomic_load(&over) && reprise_clients_wait(listener, obey))
		continue;
	return NULL;
}

static int come(void)
{
	int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval patience = {.tv_sec = PATIENCE_S};

	ck_assert_int_ge(connection, 0);
	setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	ck_assert_msg(connect(connection, (struct sockaddr *)&address, address_length) == 0,
	              "nobody accepts: %s", strerror(errno));
	return connection;
}

static void begin(void)
{
	address.sun_family = AF_UNIX;
	address_length = sizeof(sa_family_t);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, address_length),
	                 0); /* to a name that nothing has */
	address_length = sizeof(address);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &address_length), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	ck_assert_int_eq(pthread_create(&server, NULL, serve, NULL), 0);
}

static void end(void)
{
	atomic_store(&over, true);
	close(come());
	pthread_join(server, NULL);
	close(listener);
}

static size_t hear_all(int connection)
{
	static char bytes[65536];
	size_t length = 0;
	ssize_t got;

	while ((got = recv(connection, bytes, sizeof(bytes), 0)) > 0)
		length += (size_t)got;
	return got == 0 ? length : 0;
}

static void ask(int connection, const char *word)
{
	ck_assert_int_eq(send(connection, word, strlen(word), MSG_NOSIGNAL), (ssize_t)strlen(word));
}

/* A whole visit; what came back. */
static size_t visit(const char *word)
{
	int connection = come();
	size_t length;

	ask(connection, word);
	length = hear_all(connection);
	close(connection);
	return length;
}

static uint64_t milliseconds_since(const struct timespec *before)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((now.tv_sec - before->tv_sec) * 1000 +
	                  (now.tv_nsec - before->tv_nsec) / 1000000);
}

START_TEST(a_word_is_answered_however_it_comes)
{
	int connection = come();

	ck_assert_uint_eq(visit("on\n"), 2);
	ck_assert_uint_eq(visit("explode\n"), 1);
	ask(connection, "o");
	ck_assert_uint_eq(visit("on\n"), 2);
	ask(connection, "n\n");
	ck_assert_uint_eq(hear_all(connection), 2);
	close(connection);
}
END_TEST

START_TEST(who_does_not_take_the_answer_keeps_nobody_waiting)
{
	int slow = come();
	struct timespec before;

	ask(slow, "report\n");
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < 10; i++)
		ck_assert_uint_eq(visit("on\n"), 2);
	ck_assert_uint_lt(milliseconds_since(&before), 900); /* it is waited for a second for */
	ck_assert_uint_eq(visit("report\n"), ANSWER_BYTES);
	close(slow);
}
END_TEST

START_TEST(who_takes_the_answer_piece_by_piece_gets_all_of_it)
{
	int connection = come();

	ask(connection, "report\n");
	ck_assert_uint_eq(visit("on\n"), 2);
	ck_assert_uint_eq(hear_all(connection), ANSWER_BYTES);
	close(connection);
}
END_TEST

START_TEST(who_says_nothing_is_sent_away)
{
	int silent = come();
	struct timespec before;

	clock_gettime(CLOCK_MONOTONIC, &before);
	ck_assert_int_eq(poll(&(struct pollfd){.fd = silent, .events = POLLIN}, 1, PATIENCE_S * 1000),
	                 1);
	ck_assert_uint_gt(milliseconds_since(&before), 500);
	ck_assert_uint_eq(hear_all(silent), 0);
	close(silent);
}
END_TEST

START_TEST(there_are_no_more_than_there_may_be_and_the_last_is_heard)
{
	int idle[REPRISE_CLIENTS_MOST * 4];
	unsigned int gone = 0, last = REPRISE_CLIENTS_MOST * 4 - 1;

	for (unsigned int i = 0; i <= last; i++)
		idle[i] = come();
	ask(idle[last], "on\n");
	ck_assert_uint_eq(hear_all(idle[last]), 2);
	for (unsigned int i = 0; i < last; i++)
		gone += poll(&(struct pollfd){.fd = idle[i], .events = POLLIN}, 1, 0) == 1;
	ck_assert_uint_ge(gone, REPRISE_CLIENTS_MOST * 3 - 1);
	for (unsigned int i = 0; i <= last; i++)
		close(idle[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("control clients");
	TCase *tests = tcase_create("clients");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, a_word_is_answered_however_it_comes);
	tcase_add_test(tests, who_does_not_take_the_answer_keeps_nobody_waiting);
	tcase_add_test(tests, who_takes_the_answer_piece_by_piece_gets_all_of_it);
	tcase_add_test(tests, who_says_nothing_is_sent_away);
	tcase_add_test(tests, there_are_no_more_than_there_may_be_and_the_last_is_heard);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
