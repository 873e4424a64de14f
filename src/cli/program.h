/* Tells from a program's file if it can run under Reprise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/hindrance.h"

/* Prints the facts and the verdict. False if the program cannot be preloaded or nothing would be
 * replayed. */
bool reprise_cli_tell_program(const char *name, const struct reprise_hindrances *hindrances);

/* The program's path, as execvp(3) would find it. A name with a slash is not checked. */
bool reprise_program_find(const char *name, char *path, size_t size);

/* True if nothing can be preloaded into the program; `words` is the reason, a sentence without its
 * full stop. */
bool reprise_program_obstacle(const char *name, char *words, size_t size);
