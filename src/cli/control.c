#include "control.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/nearest.h"
#include "../control/peer.h"
#include "arguments.h"

#define PATIENCE_MS 5000

static int connect_to(pid_t process, unsigned int milliseconds)
{
	struct sockaddr_un address;
	socklen_t length = reprise_control_address(&address, process);
	int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connection < 0)
		return -1;
	reprise_control_be_patient(connection, milliseconds);
	if (connect(connection, (const struct sockaddr *)&address, length) == 0)
		return connection;
	close(connection);
	return -1;
}

static size_t read_all(int connection, char *answer, size_t size)
{
	size_t length = 0;
	ssize_t got;

	while (length < size - 1 && (got = recv(connection, answer + length, size - 1 - length, 0)) > 0)
		length += (size_t)got;
	answer[length] = '\0';
	return length;
}

const char *reprise_cli_ask(pid_t process, const char *word, char *answer, size_t size, unsigned int milliseconds, const char **why)
{
	int connection = connect_to(process, milliseconds);
	char line[REPRISE_CONTROL_WORD_MOST + 1];
	size_t length = (size_t)snprintf(line, sizeof(line), "%s\n", word);

	*why = "does not accept control: start it with --control; it listens from its first CUDA call on";
	if (connection < 0)
		return NULL;
	*why = "is not ours to control: what answers there is another process, or another user's";
	if (reprise_control_trusts(connection, process)) {
		*why = "does not answer: it is stopped, or another user's";
		if (send(connection, line, length, MSG_NOSIGNAL) == (ssize_t)length && read_all(connection, answer, size) > 0)
			*why = NULL;
	}
	close(connection);
	return *why == NULL ? answer : NULL;
}

/* 0 if that is no number of a process. */
static pid_t parse_process(const char *text)
{
	long number = 0;

	for (const char *digit = text; *digit != '\0'; digit++) {
		if (*digit < '0' || *digit > '9' || number > INT_MAX / 10)
			return 0;
		number = number * 10 + (*digit - '0');
	}
	return number <= INT_MAX ? (pid_t)number : 0;
}

static int refuse_word(const char *word)
{
	static const char *const words[] = {
#define X(name, word, help) word,
		REPRISE_CONTROL_WORDS(X)
#undef X
	};
	const char *nearest = reprise_nearest(word, words, sizeof(words) / sizeof(words[0]));

	return reprise_arguments_refuse("ctl: \"%s\" is not one of on|off|report%s%s%s", word, nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
	                                nearest != NULL ? "?" : "");
}

int reprise_cli_control(const char *text, const char *word)
{
	static char answer[1 << 20];
	pid_t process = parse_process(text);
	const char *why;

	if (process == 0)
		return reprise_arguments_refuse("ctl: \"%s\" is not the number of a process", text);
	if (reprise_control_word(word) == REPRISE_CONTROL_WORD_COUNT)
		return refuse_word(word);
	if (reprise_cli_ask(process, word, answer, sizeof(answer), PATIENCE_MS, &why) == NULL) {
		if (kill(process, 0) != 0 && errno == ESRCH)
			fprintf(stderr, "reprise: there is no process %d\n", (int)process);
		else
			fprintf(stderr, "reprise: process %d %s\n", (int)process, why);
		return 1;
	}
	fputs(answer, stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}
