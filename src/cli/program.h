/* What a program's file says of whether it can be run under Reprise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/hindrance.h"

/* Prints it, and the verdict. False if the program cannot be run so, or nothing would come of it.
 */
bool reprise_cli_tell_program(const char *name, const struct reprise_hindrances *hindrances);

/* Where the program is, as execvp(3) would find it; not whether there is one, of a name with a
 * slash. */
bool reprise_program_find(const char *name, char *path, size_t size);

/* Whether nothing can be preloaded into that program, and why, as one sentence without its end. */
bool reprise_program_obstacle(const char *name, char *words, size_t size);
