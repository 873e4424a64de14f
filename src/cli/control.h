/* Commands to processes that run under Reprise (src/control). */
#pragma once

#include <sys/types.h>

/* Sends `word` to the process. Returns its whole answer, to be freed, or NULL with the reason in
 * *why: words that follow the process's name. `milliseconds`: how long to wait for each piece. */
char *reprise_cli_ask(pid_t process, const char *word, unsigned int milliseconds, const char **why);

/* reprise ctl PID WORD. Returns the exit status. */
int reprise_cli_control(const char *process, const char *word);
