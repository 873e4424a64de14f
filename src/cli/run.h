/* Running a program under Reprise and telling what came of it. */
#pragma once

#include <stdbool.h>

/*
 * Runs `command` with the library preloaded, or with its stand-in for libcuda.so.1, and the
 * environment as it is set, waits, and prints one line on stderr; with `progress`, another one from
 * time to time while the program runs, if stderr is a terminal. Returns the status to exit with; if
 * the program was ended by a signal, ends this process by the same signal.
 */
int reprise_cli_run(char **command, const char *mode, bool stand_in, bool progress);
