/*
 * The file of a report. It is created for its user alone (0600), never through a link, never over anything but a regular file of that user
 * with no other name, and never waits: not for a reader, nor for whoever else writes it.
 *
 * A name without %p may be shared by several processes. What one of them wrote while this one ran is left alone: this one's report then
 * goes to the name with its process number behind it. An earlier run's is written over.
 */
#pragma once

#define REPRISE_REPORT_PATH_MOST 1024

/* When this process began to be reported on; once. */
void reprise_report_file_begin(void);

/* The file, empty and open for writing; -1 if there can be none. %p in `pattern` stands for the process. */
int reprise_report_file_open(const char *pattern);

/*
 * For what is written bit by bit: makes a new file, and never writes over one. Beside a file of the user's that has the name already, with its
 * process number behind the name, then with a number behind that. Returns the file, open for writing, and its absolute name in `path`, which holds
 * REPRISE_REPORT_PATH_MOST; or -1.
 */
int reprise_report_file_new(const char *pattern, char *path);
