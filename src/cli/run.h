/* Running a program under Reprise and telling what came of it. */
#pragma once

/*
 * Runs `command` with the library preloaded and the environment as it is set, waits, and prints one line on stderr.
 * Returns the status to exit with; if the program was ended by a signal, ends this process by the same signal.
 */
int reprise_cli_run(char **command, const char *mode);
