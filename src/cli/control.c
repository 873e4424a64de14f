#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../control/peer.h"

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

	*why = "there is nothing to speak with: it has to be run with --control (REPRISE_CONTROL=1), and to have used CUDA";
	if (connection < 0)
		return NULL;
	*why = "what answers is another process, or another user's";
	if (reprise_control_trusts(connection, process)) {
		*why = "no answer: it is another user's, or stopped";
		if (send(connection, line, length, MSG_NOSIGNAL) == (ssize_t)length && read_all(connection, answer, size) > 0)
			*why = NULL;
	}
	close(connection);
	return *why == NULL ? answer : NULL;
}

int reprise_cli_control(const char *process, const char *word)
{
	static char answer[1 << 20];
	const char *why;
	char *end;
	long number = strtol(process, &end, 10);

	if (number <= 0 || *end != '\0' || reprise_control_word(word) == REPRISE_CONTROL_WORD_COUNT) {
		fprintf(stderr, "usage: reprise ctl PID on|off|report\n");
		return 2;
	}
	if (reprise_cli_ask((pid_t)number, word, answer, sizeof(answer), PATIENCE_MS, &why) == NULL) {
		fprintf(stderr, "reprise: %s: %s\n", process, why);
		return 1;
	}
	fputs(answer, stdout);
	return 0;
}
