/*
 * The file of a report. It is created for its user alone (0600), never through a link, never over anything but a regular file of that user
 * with no other name, and never waits: not for a reader, nor for whoever else writes it.
 *
 * A name without %p may be shared by several processes. What one of them wrote while this one ran is left alone: this one's report then
 * goes to the name with its process number behind it. An earlier run's is written over.
 */
#pragma once

#include <sys/types.h>

#define REPRISE_REPORT_PATH_MOST 1024

/* When this process begins to be reported on, to that file; once. */
void reprise_report_file_begin(const char *pattern);

/* The file, empty and open for writing; -1 if there can be none. %p in `pattern` stands for the process. */
int reprise_report_file_open(const char *pattern);

/* A file that is written bit by bit, and open only meanwhile: a program may close what it did not open. */
struct reprise_report_place {
	char path[REPRISE_REPORT_PATH_MOST]; /* absolute: the program may change its working directory */
	dev_t device;
	ino_t inode;
};

/*
 * Makes a new file, and never writes over one: beside a file of the user's that has the name already, with its process number behind the name, then
 * with a number behind that. Returns it, open for writing, and where it is; or -1.
 */
int reprise_report_file_make(const char *pattern, struct reprise_report_place *place);

/* Opens it again, for writing, with further flags of open(2); -1 if what is there now is not that file. */
int reprise_report_file_again(const struct reprise_report_place *place, int flags);
