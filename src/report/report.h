/*
 * The report: the counts, as one line on stderr or as a JSON object in a file, at the end of the
 * process. Only if the user asked for it (REPRISE_REPORT) and there is something to tell. Makes no
 * CUDA call, so it can run in a destructor. While the program runs, the file has a report that is
 * at most a second old (snapshots.c): a program killed by a signal runs no destructor.
 */
#pragma once

#include <stdbool.h>

/* Says on stderr that the report could not be written. */
void reprise_report_tell_error(int error);

/* Writes the present report as JSON into an open file. Waits while another one is being written.
 * False if it could not be written whole. */
bool reprise_report_now(int file);

/* True if the report goes to a file. */
bool reprise_report_has_file(void);

/* Writes the present report to the file for the final one, and the metrics (metrics.h), unless
 * nothing has changed since the last time, or they have ended. *kept as in reprise_output_write().
 * False if it failed and the error could not be logged. */
bool reprise_report_snapshot(int *kept);

/* Writes the final report, to its file or as one line. No other follows. Returns the error and does
 * not log it. */
int reprise_report_write_last(void);

/* Removes the metrics' file. No other follows. */
void reprise_report_end_metrics(void);

/* When Reprise starts. */
void reprise_report_begin(void);

/* At the first op, if the report goes to a file, or there are metrics: starts the thread that
 * writes them. */
void reprise_snapshots_begin(void);

/* After fork, in the child: there is no such thread. */
void reprise_snapshots_reset(void);

/* After fork, in the child: the counts are the parent's. */
void reprise_report_forget(void);
