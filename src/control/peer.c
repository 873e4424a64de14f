#include "control/peer.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum reprise_control_word reprise_control_word(const char *text)
{
	static const char *const words[] = {
#define X(name, word, help) word,
		REPRISE_CONTROL_WORDS(X)
#undef X
	};
	int word = 0;

	while (word < REPRISE_CONTROL_WORD_COUNT && strcmp(words[word], text) != 0)
		word++;
	return (enum reprise_control_word)word;
}

socklen_t reprise_control_address(struct sockaddr_un *address, pid_t process)
{
	int length;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
	                  REPRISE_CONTROL_NAME "%d", (int)process);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

bool reprise_control_trusts(int connection, pid_t process)
{
	struct ucred other;
	socklen_t size = sizeof(other);

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0)
		return false;
	if (process == 0)
		return other.uid == geteuid();
	return other.pid == process && (other.uid == geteuid() || other.uid == 0);
}

void reprise_control_be_patient(int connection, unsigned int milliseconds)
{
	struct timeval patience = {.tv_sec = milliseconds / 1000,
	                           .tv_usec = (suseconds_t)(milliseconds % 1000) * 1000};

	setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}
