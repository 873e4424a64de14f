/*
 * The program, as this command's child, and signals between the two. The terminal sends the signals
 * of its keys to both. A signal to this process alone is passed on. What stops the child that way
 * stops this process too. One child at a time.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* From now on, signals that are passed on do not end this process: it waits for the child and can
 * clean up. A closed pipe or a file size limit does not end it either. The child gets the signal
 * handlers that this process had. */
void reprise_child_guard(void);

/* Starts the program. `prepare` runs first, in the child; false stops the start, and it has said
 * why then. Returns 0, or the exit status if the program could not be started: 127 or 126 as in a
 * shell, with a message. If this process was asked to end, nothing is started or said. */
int reprise_child_start(char **command, bool (*prepare)(void *context), void *context);

/* Waits for the end of the child and returns its status as of waitpid(2). `meanwhile`, if not NULL,
 * is called every `milliseconds`. */
int reprise_child_wait(void (*meanwhile)(pid_t child), unsigned int milliseconds);

/* The signal that asked this process to end since the guard began: INT, QUIT, TERM or
 * HUP; 0: none. */
int reprise_child_asked_to_end(void);

/* Ends this process by that signal, without a core file: the program's own is enough. Returns 128 +
 * the signal if the process survives. */
int reprise_child_end_by(int signal);
