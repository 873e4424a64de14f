/*
 * The socket that controls a process under Reprise, for both ends: its name, and the check of the
 * other end.
 *
 * The name is abstract: it leaves no file behind. Any user may make or open such a socket, so each
 * end checks the other before it says a word (SO_PEERCRED, unix(7)): it must be the same user, and
 * for the command the very process that it means.
 *
 * One connection carries one command, a word and a newline, and its answer, which lasts until the
 * connection ends.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define REPRISE_CONTROL_NAME "reprise-" /* then the process id */
#define REPRISE_CONTROL_WORD_MOST 16

/* The commands: enumerator, word, what it does. */
#define REPRISE_CONTROL_WORDS(X) \
	X(ON, "on", "replays again") \
	X(OFF, "off", "issues what is deferred; everything is eager from then on") \
	X(REPORT, "report", "answers with the report as it is now")

enum reprise_control_word {
#define X(name, word, help) REPRISE_CONTROL_##name,
	REPRISE_CONTROL_WORDS(X)
#undef X
		REPRISE_CONTROL_WORD_COUNT /* also: an unknown word */
};

enum reprise_control_word reprise_control_word(const char *text);

/* The address of that process. Returns its length. */
socklen_t reprise_control_address(struct sockaddr_un *address, pid_t process);

/* True if the other end belongs to the same user and, unless `process` is 0, is that process. The
 * kernel reports its user at the time of listen(): it may have been root then, and is accepted. */
bool reprise_control_trusts(int connection, pid_t process);

/* Limits how long a single call waits for the other end. */
void reprise_control_be_patient(int connection, unsigned int milliseconds);
