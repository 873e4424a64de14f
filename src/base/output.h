/*
 * The file of a report. It is created for its user alone (0600), never through a link, never over
 * anything but a regular file of that user with no other name, and never waits: not for a reader,
 * nor for whoever else writes it.
 *
 * It is written under a name of its own in the same folder (the report's with the process and
 * ".part" behind it), and renamed: who reads the report finds all of one, whenever that is. Where
 * there can be no such name, the report at the end is written in its place.
 *
 * A name without %p may be shared by several processes. What one of them wrote while this one ran,
 * or is still writing, is left alone: this one's report then goes to the name with its process
 * number behind it. An earlier run's is written over.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define REPRISE_OUTPUT_PATH_MOST 1024

/* What is there under the name is no plain file of this user's; beside the errors of errno. */
#define REPRISE_OUTPUT_NOT_OURS (-1)

/*
 * This thread was locked in by the program, and no file is touched (base/filters.h). Nothing is
 * said of it either: that, too, takes calls of the system.
 */
#define REPRISE_OUTPUT_LOCKED_IN ECANCELED

/*
 * When this process begins to be reported on, to that file; once. `pattern` stays; %p in it stands
 * for the process. A relative name is looked for where the process is now.
 */
void reprise_output_begin(const char *pattern);

/* After fork, in the child: what the parent wrote is not the child's. */
void reprise_output_forget(void);

/*
 * Has the report written, by `write`, which returns 0 or an error; again and again, but not by two
 * threads at once. 0, or why there is none: then what was there is still there.
 *
 * kept: where the file stays open, and locked, in place of the one before (-1: none), so that other
 * processes see that it is still written; NULL: for the last time.
 */
int reprise_output_write(int (*write)(int file, const void *what), const void *what, int *kept);

/* That error in words, which may be in `room`. */
const char *reprise_output_words(int error, char *room, size_t size);

/* A file that is written bit by bit, and open only meanwhile: a program may close what it did not
 * open. */
struct reprise_output_path {
	char
		path[REPRISE_OUTPUT_PATH_MOST]; /* absolute: the program may change its working directory */
	dev_t device;
	ino_t inode;
	bool beside; /* another file has the name */
};

/*
 * Makes a new file, and never writes over one: beside a file of the user's that has the name
 * already, with its process number behind the name, then with a number behind that. Returns it,
 * open for writing, and where it is; or -1, and errno tells why.
 */
int reprise_output_make(const char *pattern, struct reprise_output_path *place);

/* Opens it again, for writing, with further flags of open(2); -1 if what is there now is not that
 * file, and errno tells why. */
int reprise_output_again(const struct reprise_output_path *place, int flags);

/* Writes to what either of these returned, with errno as it left it, and closes it. 0, or the
 * error. */
int reprise_output_add(int file, const void *bytes, size_t count);
