/* Which of the processes of a job this is, as its launcher says in the environment. */
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
