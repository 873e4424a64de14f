/*
 * The timeline's file, in the array format of trace events, one line each. For the timeline's
 * writer alone (timeline.c).
 *
 * The array need not be closed, so the file can be read at any time if no line is cut. No line and
 * no write crosses a page: if the process ends during a write, the kernel still finishes the page.
 * The file is open only during writes.
 */
#pragma once

#include <stdbool.h>

/* Adds a line; if the file would become too large, the closing lines, and ends the timeline. Does
 * nothing once the timeline has ended. */
__attribute__((format(printf, 1, 2))) void reprise_timeline_file_add(const char *format, ...);

/* The line that was added last is an event that counts. */
void reprise_timeline_file_count(void);

/* True if there is a line. */
bool reprise_timeline_file_begun(void);

/* Writes what is not written yet. What cannot be written ends the timeline. */
void reprise_timeline_file_write(void);

/* Closes the array, unless the file is full or could not be written. */
void reprise_timeline_file_end(void);

/* After fork, in the child: it has a file of its own. */
void reprise_timeline_file_reset(void);
