/* reprise verify: running a program twice, without Reprise and with it, and telling what differs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Both runs are given the same standard input (none, if that is a terminal), and find the files
 * that the globs name as they were before the first. What the second one leaves stays. Prints what
 * was compared. Returns the status to exit with: 0 if nothing differs, 1 if something does, 3 if
 * nothing does but nothing was replayed either, 2 if that could not be seen, 127 or 126 if the
 * program could not be started. Ends by a signal that asks this process to end.
 */
int reprise_cli_twice(char **command, char *const *globs, size_t count, bool stand_in);
