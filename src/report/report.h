/*
 * The report: what was counted, as one line on stderr or as a JSON object in a file, when the
 * process ends. Only if the user asked for it (REPRISE_REPORT) and there was something to count.
 * Makes no CUDA call, so that it may run in a destructor. While the program runs the file has the
 * report as it was a second ago at most (snapshots.h): a program that is ended by a signal comes to
 * no destructor.
 */
#pragma once

#include <stdbool.h>

/* A line on stderr: the report could not be written. */
void reprise_report_tell_error(int error);

/* Writes the report as it is now, as JSON, into an open file; waits for one that is being written.
 * False if not all of it could be. */
bool reprise_report_now(int file);

/*
 * Writes the report as it is now to where it is to be at the end, unless nothing has happened since
 * it was written last; not once the report at the end is written. *kept as
 * reprise_output_write() has it. False if it could not be, and nobody could be told.
 */
bool reprise_report_snapshot(int *kept);

/* Writes the one at the end, to its file or as the one line; no other comes behind it. Returns the
 * error, of which nobody is told. */
int reprise_report_write_last(void);

/* When Reprise starts. */
void reprise_report_begin(void);

/* After fork, in the child: what was counted is the parent's. */
void reprise_report_forget(void);
