/* Processes that run under Reprise with --control (src/control): commands to them, and a line of
 * progress on the terminal. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Sends `word` to the process. Returns its whole answer, to be freed, or NULL with the reason in
 * *why: words that follow the process's name. `milliseconds`: how long to wait for each piece. */
char *reprise_cli_ask(pid_t process, const char *word, unsigned int milliseconds, const char **why);

/* ---- the line of progress: only if this process is in the terminal's foreground ---- */

#define REPRISE_PROGRESS_MS 250 /* between two lines, in milliseconds */

/* True if stderr is a terminal. */
bool reprise_progress_wanted(void);

/* Asks `root` and all its descendants, and shows the sum. Takes some tenths of a second at most. */
void reprise_progress_show(pid_t root);

void reprise_progress_erase(void);
