/*
 * The socket by which a process under Reprise is controlled, as both ends need it: its name, and
 * who is at the other end.
 *
 * The name is an abstract one, which leaves no file behind. Anybody may make or open such a socket,
 * so each end looks who the other is (SO_PEERCRED, unix(7)) before it says a word: the same user,
 * and for the command the very process that it means.
 *
 * One connection is one command and its answer: the command is a word and a newline; the answer
 * goes on until the connection ends.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define REPRISE_CONTROL_NAME "reprise-" /* and the process */
#define REPRISE_CONTROL_WORD_MOST 16

/* What may be asked, once: enumerator, word, what it does. */
#define REPRISE_CONTROL_WORDS(X) \
	X(ON, "on", "replays again") \
	X(OFF, "off", "issues what is deferred; everything is eager from then on") \
	X(REPORT, "report", "answers with the report as it is now")

enum reprise_control_word {
#define X(name, word, help) REPRISE_CONTROL_##name,
	REPRISE_CONTROL_WORDS(X)
#undef X
		REPRISE_CONTROL_WORD_COUNT /* and what is none of them */
};

enum reprise_control_word reprise_control_word(const char *text);

/* The address of that process; its length is returned. */
socklen_t reprise_control_address(struct sockaddr_un *address, pid_t process);

/*
 * Whether the other end of the connection belongs to our own user and, unless `process` is 0, to
 * that process. That process may have been root's when it began to listen, which is what the kernel
 * tells of it, and be ours since.
 */
bool reprise_control_trusts(int connection, pid_t process);

/* From now on no single call waits longer than that for the other end. */
void reprise_control_be_patient(int connection, unsigned int milliseconds);
