/*
 * The file of a report. It is created for its user alone (0600), never through a link. It replaces
 * only a regular file of that user with no other name. Writing never waits for a reader or another
 * writer.
 *
 * The report is written to a draft in the same folder (its name with the process and ".part"
 * appended) and renamed. So a reader always finds a whole report. Where no draft is possible, the
 * report at the end is written in output.
 *
 * A name without %p may be shared by several processes. A file that another process wrote while
 * this one ran, or is still writing, is left alone: this report then gets its process number
 * appended to the name. An earlier run's file is replaced.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define REPRISE_OUTPUT_PATH_MOST 1024

/* What has the name is no plain file of this user's. Not an errno value. */
#define REPRISE_OUTPUT_NOT_OURS (-1)

/* The program has put this thread under a filter, so no file is touched (base/thread.h). No
 * message either: it would take system calls, too. */
#define REPRISE_OUTPUT_LOCKED_IN ECANCELED

struct stat;

/* True if a file with this state may be replaced: a plain file of this user's with no other name.
 */
bool reprise_output_may_replace(const struct stat *status);

/* Reporting on this process begins, to that file. Once. `pattern` stays valid; %p in it stands for
 * the process. A relative name is taken from the present working directory. */
void reprise_output_begin(const char *pattern);

/* After fork, in the child: the parent's report is not the child's. */
void reprise_output_forget(void);

/*
 * Has `write` write the report; it returns 0 or an error. May be called again, but by one thread at
 * a time. Returns 0, or the error: then the previous report is still there.
 *
 * kept: the file stays open and locked, in output of the one in *kept (-1: none), so that other
 * processes see that it is in use. NULL: this is the last report.
 */
int reprise_output_write(int (*write)(int file, const void *what), const void *what, int *kept);

/* The error in words, which may be in `room`. */
const char *reprise_output_words(int error, char *room, size_t size);

/* A file that is written in parts and open only meanwhile: a program may close files that it did
 * not open. */
struct reprise_output_path {
	/* Absolute, since the program may change its working directory. */
	char path[REPRISE_OUTPUT_PATH_MOST];
	dev_t device;
	ino_t inode;
	bool beside; /* another file has the name */
};

/*
 * Makes a new file; never replaces one. If a file of the user's has the name, appends the process
 * number, then another number. Returns the file, open for writing, and its output; or -1 with errno
 * set.
 */
int reprise_output_make(const char *pattern, struct reprise_output_path *output);

/* Opens the file again for writing, with further flags of open(2). -1 with errno set, if another
 * file has the name now. */
int reprise_output_again(const struct reprise_output_path *output, int flags);

/* Writes to the result of the two functions above, with errno as they left it, and closes it.
 * Returns 0, or the error. */
int reprise_output_add(int file, const void *bytes, size_t count);
