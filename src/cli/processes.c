#include "cli/processes.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "control/peer.h"

static bool is_ours(pid_t process)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)process);
	return stat(path, &status) == 0 && status.st_uid == geteuid();
}

static int compare(const void *one, const void *other)
{
	pid_t left = *(const pid_t *)one, right = *(const pid_t *)other;

	return (left > right) - (left < right);
}

size_t reprise_processes_find(pid_t found[REPRISE_PROCESSES_MOST])
{
	FILE *sockets = fopen("/proc/net/unix", "re");
	size_t count = 0;
	char line[512];
	int process;

	while (sockets != NULL && count < REPRISE_PROCESSES_MOST &&
	       fgets(line, sizeof(line), sockets) != NULL) {
		const char *name = strstr(line, " @" REPRISE_CONTROL_NAME);

		/* Connections have the listener's name too, but not its flag (__SO_ACCEPTCON). */
		if (name != NULL && strstr(line, " 00010000 ") != NULL &&
		    sscanf(name, " @" REPRISE_CONTROL_NAME "%d", &process) == 1 && process > 0 &&
		    is_ours(process))
			found[count++] = process;
	}
	if (sockets != NULL)
		fclose(sockets);
	qsort(found, count, sizeof(*found), compare);
	return count;
}

const char *reprise_process_name(pid_t process, char name[REPRISE_PROCESS_NAME_MOST])
{
	char path[64], word[512] = "";
	const char *last;
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)process);
	file = fopen(path, "re");
	if (file != NULL) {
		got = fread(word, 1, sizeof(word) - 1, file);
		word[got] = '\0';
		fclose(file);
	}
	last = strrchr(word, '/') != NULL ? strrchr(word, '/') + 1 : word;
	if (reprise_printable(last, SIZE_MAX, name, REPRISE_PROCESS_NAME_MOST) == 0)
		snprintf(name, REPRISE_PROCESS_NAME_MOST, "?");
	return name;
}
