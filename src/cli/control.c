#include "cli/control.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "control/peer.h"
#include "cli/arguments.h"
#include "cli/processes.h"

#define PATIENCE_MS 5000
#define FIRST_ROOM 65536 /* first size of the answer's buffer, in bytes */
#define NO_ANSWER "does not answer: it is stopped, or another user's"

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

/* Reads the whole answer as a string; NULL if there is no memory. A complete answer ends with a
 * newline. */
static char *read_all(int connection)
{
	char *answer = NULL, *more;
	size_t length = 0, room = 0;
	ssize_t got;

	do {
		if (length + 1 >= room) {
			room = room > 0 ? 2 * room : FIRST_ROOM;
			more = realloc(answer, room);
			if (more == NULL) {
				free(answer);
				return NULL;
			}
			answer = more;
		}
		got = recv(connection, answer + length, room - 1 - length, 0);
		length += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	answer[length] = '\0';
	return answer;
}

static bool is_whole(const char *answer)
{
	size_t length = strlen(answer);

	return length > 0 && answer[length - 1] == '\n';
}

/* Returns NULL and the reason in *why, or the answer. */
static char *hear(int connection, const char **why)
{
	char *answer = read_all(connection);

	*why = NULL;
	if (answer == NULL)
		*why = "answers with more than there is memory for";
	else if (answer[0] == '\0')
		*why = NO_ANSWER;
	else if (!is_whole(answer))
		*why = "did not answer to the end";
	if (*why == NULL)
		return answer;
	free(answer);
	return NULL;
}

char *reprise_cli_ask(pid_t process, const char *word, unsigned int milliseconds, const char **why)
{
	int connection = connect_to(process, milliseconds);
	char line[REPRISE_CONTROL_WORD_MOST + 1], *answer = NULL;
	size_t length = (size_t)snprintf(line, sizeof(line), "%s\n", word);

	*why =
		"does not accept control: start it with --control; it listens from its first CUDA call on";
	if (connection < 0)
		return NULL;
	*why = "is not ours to control: what answers there is another process, or another user's";
	if (reprise_control_trusts(connection, process)) {
		*why = NO_ANSWER;
		if (send(connection, line, length, MSG_NOSIGNAL) == (ssize_t)length)
			answer = hear(connection, why);
	}
	close(connection);
	return answer;
}

/* 0 if the text is no process id. */
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

	return reprise_arguments_refuse("ctl: \"%s\" is not one of on|off|report%s%s%s", word,
	                                nearest != NULL ? "; did you mean " : "",
	                                nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

static int tell_failure(pid_t process, const char *why)
{
	if (kill(process, 0) != 0 && errno == ESRCH)
		fprintf(stderr, "reprise: there is no process %d\n", (int)process);
	else
		fprintf(stderr, "reprise: process %d %s\n", (int)process, why);
	return 1;
}

static int control_one(pid_t process, const char *word)
{
	const char *why;
	char *answer = reprise_cli_ask(process, word, PATIENCE_MS, &why);

	if (answer == NULL)
		return tell_failure(process, why);
	fputs(answer, stdout);
	free(answer);
	return fflush(stdout) == 0 ? 0 : 1;
}

/* Leaves of the processes those of that name, or all. */
static size_t choose(const char *who, pid_t *processes, size_t count)
{
	char name[REPRISE_PROCESS_NAME_MOST];
	size_t chosen = 0;

	for (size_t i = 0; i < count; i++)
		if (strcmp(who, "all") == 0 || strcmp(who, reprise_process_name(processes[i], name)) == 0)
			processes[chosen++] = processes[i];
	return chosen;
}

/* Each answer on a line behind the process. */
static int control_each(const pid_t *processes, size_t count, const char *word)
{
	char name[REPRISE_PROCESS_NAME_MOST], *answer;
	const char *why;
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		answer = reprise_cli_ask(processes[i], word, PATIENCE_MS, &why);
		if (answer != NULL)
			printf("%d %s: %s", (int)processes[i], reprise_process_name(processes[i], name),
			       answer);
		else
			status = tell_failure(processes[i], why);
		free(answer);
	}
	return fflush(stdout) == 0 ? status : 1;
}

static int control_named(const char *who, const char *word)
{
	pid_t processes[REPRISE_PROCESSES_MOST];
	size_t count = choose(who, processes, reprise_processes_find(processes));

	if (count == 0 && strcmp(who, "all") == 0)
		fprintf(stderr, "reprise: no process accepts control: start programs with --control\n");
	else if (count == 0)
		fprintf(
			stderr,
			"reprise: no process named %s accepts control: start it with --control; reprise top "
			"shows those that do\n",
			who);
	else if (count == 1)
		return control_one(processes[0], word);
	else if (reprise_control_word(word) == REPRISE_CONTROL_REPORT)
		return reprise_arguments_refuse(
			"ctl: %zu processes are meant, and a report is of one: name it by its number; reprise top "
			"shows all",
			count);
	else
		return control_each(processes, count, word);
	return 1;
}

int reprise_cli_control(const char *who, const char *word)
{
	bool is_number = who[0] != '\0' && who[strspn(who, "0123456789")] == '\0';
	pid_t process = parse_process(who);

	if (who[0] == '\0' || (is_number && process == 0))
		return reprise_arguments_refuse("ctl: \"%s\" is not the number of a process", who);
	if (reprise_control_word(word) == REPRISE_CONTROL_WORD_COUNT)
		return refuse_word(word);
	return is_number ? control_one(process, word) : control_named(who, word);
}
