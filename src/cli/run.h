/* Runs a program under Reprise and tells the outcome. */
#pragma once

#include <stdbool.h>

/*
 * Runs `command` with the library preloaded, or with the stand-in for libcuda.so.1, in the present
 * environment; waits; and prints one line on stderr. `progress`: also a line from time to time, if
 * stderr is a terminal. Returns the exit status. If a signal ended the program, it ends this
 * process too.
 */
int reprise_cli_run(char **command, const char *mode, bool stand_in, bool progress);
