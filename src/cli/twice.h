/* reprise verify: runs a program without Reprise and with it, and tells what differs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Both runs get the same standard input (none if it is a terminal) and the files that the globs
 * name as they were before the first. The files of the second run stay. Prints what was compared.
 * Returns the exit status: 0 nothing differs, 1 something differs, 2 it could not be seen, 3
 * nothing differs but nothing was replayed, 127 or 126 the program could not be started. If a
 * signal asks this process to end, it ends by that signal.
 */
int reprise_cli_twice(char **command, char *const *globs, size_t count, bool stand_in);
