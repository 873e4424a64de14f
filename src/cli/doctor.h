/* Whether programs can run under Reprise here: what `reprise doctor` looks at. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/binary.h"
#include "cli/library.h"

/* What was found that affects the verdict. The first of each kind is kept. */
struct reprise_hindrances {
	/* Why no program can be preloaded here; "" if that is possible. */
	char preloading[512];
	char starting[512];  /* why reprise run would start no program */
	char replaying[512]; /* why nothing would be replayed */
};

/* Keeps the reason, a part of a sentence, unless there is one already. */
__attribute__((format(printf, 3, 4))) void reprise_hindrance_note(char *reason, size_t size,
                                                                  const char *format, ...);

/* The width of a line's name: that of the longest option. */
#define REPRISE_DOCTOR_COLUMN 21

/* Prints a line: a name and what is known of it. */
__attribute__((format(printf, 2, 3))) void reprise_cli_tell(const char *what, const char *format,
                                                            ...);

/* A conflict, in one sentence, and what to do about it, in another. */
void reprise_cli_tell_conflict(const char *what, const char *remedy);

/* Prints the driver, its GPUs and the toolkits, and what is in the way. Starts the driver but makes
 * no context. */
void reprise_cli_tell_machine(struct reprise_hindrances *hindrances);

/* Prints what else would be in the program's process, or would keep Reprise out of it: each
 * conflict and what to do about it. */
void reprise_cli_tell_conflicts(struct reprise_hindrances *hindrances);

/* The kernel follows no more scripts that are interpreted by scripts. */
#define REPRISE_PROGRAM_FILES (5 + 1)

/* A program's file and, while that is a script, its interpreter's. Of one that is missing, the path
 * behind the last is the name that was looked for. */
struct reprise_program {
	unsigned int count;
	struct reprise_program_file {
		char path[REPRISE_CLI_PATH_MOST];
		struct reprise_binary binary;
	} files[REPRISE_PROGRAM_FILES];
};

/* Reads each file once. False if one is missing: `count` is 0 if that is the program's own. */
bool reprise_program_read(const char *name, struct reprise_program *program);

/* True if the program, or the interpreter of a script, runs with more rights than its user has. */
bool reprise_program_is_privileged(const struct reprise_program *program);

/* Prints what the program's files tell, and the verdict. False if the program cannot be preloaded,
 * would not be started, or nothing would be replayed. */
bool reprise_cli_tell_program(const char *name, const struct reprise_program *program,
                              const struct reprise_hindrances *hindrances);

/* ---- for other commands, too ---- */

/* The program's path, as execvp(3) would find it. A name with a slash is not checked. */
bool reprise_program_find(const char *name, char *path, size_t size);

/* True if nothing can be preloaded into the program; `words` is the reason, a sentence without its
 * full stop. */
bool reprise_program_obstacle(const char *name, char *words, size_t size);
