/*
 * The program that the command runs, as its child, and the signals between them. What the
 * terminal's keys send goes to both by itself; what is sent to this process alone is passed on;
 * what stops the child so stops this process, too. One child at a time.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * From here on this process is not ended by signals that are passed on: they wait for the child,
 * and what was made for it can be removed again. A pipe whose reader is gone does not end this
 * process either, nor a limit on the size of files. The child finds signals as this process found
 * them.
 */
void reprise_child_guard(void);

/*
 * Starts the program. In the child `prepare` runs first, and stops it by returning false, having
 * said why. Returns 0, or the status to exit with if it could not be started, which is said then:
 * 127 or 126 as a shell has it. Once somebody has asked this process to end, nothing is started,
 * and nothing said.
 */
int reprise_child_start(char **command, bool (*prepare)(void *context), void *context);

pid_t reprise_child_process(void);

/* Waits for its end and returns its status, as of waitpid(2). `meanwhile`, if not NULL, is called
 * every so many milliseconds. */
int reprise_child_wait(void (*meanwhile)(pid_t child), unsigned int milliseconds);

/* The signal that asked this process to end since the guard began, by key or from somebody: INT,
 * QUIT, TERM or HUP; 0 if none did. */
int reprise_child_asked_to_end(void);

/* Ends this process by that signal, and without a core file: the program's is enough. Returns 128
 * and the signal if that does not end it. */
int reprise_child_end_by(int signal);
