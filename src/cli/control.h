/* Speaking with processes that run under Reprise (src/control). */
#pragma once

#include <sys/types.h>

/*
 * Says `word` to the process. Its whole answer, as a string to be freed, or NULL with the reason in
 * *why, to stand behind the process's name. `milliseconds`: how long to wait for each piece of it.
 */
char *reprise_cli_ask(pid_t process, const char *word, unsigned int milliseconds, const char **why);

/* reprise ctl PID WORD. Returns the status to exit with. */
int reprise_cli_control(const char *process, const char *word);
