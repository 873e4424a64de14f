/* What the reports of a program's processes add up to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct reprise_summary {
	unsigned long long ops, replayed, traces, bytes, launch_time_ns, verified, not_verified, graphs,
		unfit, longest_ns;
	unsigned long long paused, eager_stopped, eager_capturing; /* not among the ops */
	long long saved_ns;
	unsigned int processes,
		snapshots;        /* the second: of these, of processes that ended without a last word */
	char difference[512]; /* that a process found with REPRISE=verify; "" if none did */
	char aside_for[128];  /* the tool for which a process stood aside */
	char stopped[128];    /* why a process replayed nothing any more, if not because it ended */
};

/* Adds a report, as a process writes it. False if it is none, or not whole. */
bool reprise_summary_add(struct reprise_summary *summary, const char *report);

/* Whether a report's process was started by the command with that mark (base/launcher.h), or by one
 * within it. */
bool reprise_summary_is_of(const char *report, const char *mark);

/* A report's text, to be freed; NULL, and errno, if it cannot be read. */
char *reprise_summary_read(const char *path);

/* In per cent. */
double reprise_summary_share(const struct reprise_summary *summary);

/* Why nothing was replayed, where nothing was: words to stand behind a colon. */
const char *reprise_summary_why_none(const struct reprise_summary *summary, char *words,
                                     size_t size);
