/* A progress line on the terminal. Only if stderr is a terminal and this process is in its
 * foreground. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define REPRISE_PROGRESS_MS 250 /* between two lines, in milliseconds */

/* True if stderr is a terminal. */
bool reprise_progress_wanted(void);

/* Asks `root` and all its descendants, and shows the sum. Takes some tenths of a second at most. */
void reprise_progress_show(pid_t root);

void reprise_progress_erase(void);
