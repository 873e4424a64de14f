/* Runs of a program, without Reprise and with it, whose output is kept in a folder of this
 * command's. All get the same standard input, none if it is a terminal. */
#pragma once

#include <stdbool.h>

#include "cli/outcome.h"

#define REPRISE_KEPT_PATH_MOST 4352
#define REPRISE_KEPT_WHY_MOST (REPRISE_KEPT_PATH_MOST + 256)
#define REPRISE_KEPT_STATUS_MOST 32
#define REPRISE_KEPT_UNSEEN 2 /* exit status if nothing could be compared */
#define REPRISE_KEPT_PROVES_NOTHING 3

struct reprise_kept {
	char folder[REPRISE_SCRATCH_MOST];
	struct reprise_outcome outcome; /* of the runs with Reprise */
};

struct reprise_kept_end {
	int status;               /* of waitpid(2) */
	double seconds;           /* from the start to the end */
	double processor_seconds; /* of the program, and of those of its processes that it waited for */
};

/* Makes the folder, and decides where reports go. Call it under a guard (child.h). False with a
 * message. */
bool reprise_kept_begin(struct reprise_kept *kept);

/* Removes the folder, and that of the reports. */
void reprise_kept_end(struct reprise_kept *kept);

/* Keeps the standard input. False if that failed, or if this process is asked to end. */
bool reprise_kept_input(const struct reprise_kept *kept);

/* The path of a file in the folder. Valid until the next call but one. */
const char *reprise_kept_path(const struct reprise_kept *kept, const char *name);

/* Starts the program and waits for its end. It appends to WHICH.out and WHICH.err. `load` sets the
 * environment for the library; NULL: without it. Returns 0 with the program's end, or the exit
 * status: the program could not be started, its output not kept (both with a message), or this
 * process is asked to end. */
int reprise_kept_run(const struct reprise_kept *kept, const char *which, char **command,
                     bool (*load)(void), struct reprise_kept_end *end);

/* How a program ended: "status 1", "signal 11". */
const char *reprise_kept_status(int status, char words[REPRISE_KEPT_STATUS_MOST]);

/* Why the runs with Reprise, of which the last ended with `status`, replayed nothing. */
void reprise_kept_why_none(const struct reprise_kept *kept, const struct reprise_found *found,
                           const struct reprise_summary *summary, char **command, int status,
                           char why[REPRISE_KEPT_WHY_MOST]);
