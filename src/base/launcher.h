/* Which of the processes of a job this is, as its launcher says in the environment; and by which
 * `reprise run` it was started. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reprise_launcher {
	const char *variable; /* which said so */
	uint64_t rank;
};

/* Looks; once, when Reprise starts: the program may change its environment later. */
void reprise_launcher_look(void);

/* False if there is none that we know. */
bool reprise_launcher_found(struct reprise_launcher *launcher);

/*
 * The command's mark, by which it knows the reports of its own processes; that of a command within
 * a command is behind the outer one's, after a slash. Not an option: the command alone sets it.
 */
#define REPRISE_LAUNCHER_MARK "_REPRISE_RUN"
#define REPRISE_LAUNCHER_MARK_MOST 256 /* a longer one is none */

/* As the environment had it when that was looked at; "" if it had none. */
const char *reprise_launcher_mark(void);
