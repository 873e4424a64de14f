/* A line on the terminal that says how far a program has come. Only where stderr is a terminal, and
 * this process in its foreground. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define REPRISE_PROGRESS_MS 250 /* between two lines */

/* Whether there is anybody to show it to. */
bool reprise_progress_wanted(void);

/* Asks every process that descends from `root`, itself too, and shows the sum. Takes some tenths of
 * a second at most. */
void reprise_progress_show(pid_t root);

void reprise_progress_erase(void);
