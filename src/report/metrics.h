/*
 * Metrics, in Prometheus' text format (version 0.0.4): REPRISE_METRICS names a folder, in which the
 * process has the file reprise-PID.prom, for a node exporter's textfile collector. The report
 * thread writes it once a second, if anything was counted: to a draft beside it, which is renamed,
 * so that a reader always finds it whole. Everybody may read it, as far as the process's umask
 * allows. It is removed when the process ends. What is left is of a process that was killed.
 *
 * The file replaces only a plain file of this user's, and is never written through a link.
 */
#pragma once

#include <stdbool.h>

#include "report/totals.h"

/* When Reprise starts: notes the folder, since the program may change its own. */
void reprise_metrics_begin(void);

/* False if nobody wants them. */
bool reprise_metrics_wanted(void);

/* Writes the file. Returns 0, or the error. By one thread at a time. */
int reprise_metrics_write(const struct reprise_totals *totals);

/* Removes it. As reprise_metrics_write(). */
void reprise_metrics_end(void);

/* After fork, in the child: the file is the parent's. */
void reprise_metrics_forget(void);

/* A label's value, escaped; a byte that is not printable ASCII becomes a question mark. Returns
 * `escaped`. */
const char *reprise_metrics_escape(const char *value, char *escaped, size_t size);
