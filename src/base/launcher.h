/* The rank of this process in its job, from the launcher's environment variables, and the `reprise
 * run` that started it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reprise_launcher {
	const char *variable; /* the variable that gave the rank */
	uint64_t rank;
};

/* Reads the environment. Once, when Reprise starts: the program may change its environment
 * later. */
void reprise_launcher_look(void);

/* False if no known launcher gave a rank. */
bool reprise_launcher_found(struct reprise_launcher *launcher);

/* The mark by which the command finds the reports of its own processes. A nested command appends
 * its mark after a slash. Not an option: only the command sets it. */
#define REPRISE_LAUNCHER_MARK "_REPRISE_RUN"
#define REPRISE_LAUNCHER_MARK_MOST 256 /* a longer one is ignored */

/* The mark, as the environment had it then; "" if none. */
const char *reprise_launcher_mark(void);

/* Bytes that the command tries to write, at the end, into the folder of the reports. */
#define REPRISE_LAUNCHER_ROOM 65536

/* True if the command will find out by itself, and say, that a report could not be written for this
 * reason, an errno value: one line for all its processes. */
bool reprise_launcher_tells(int error);
