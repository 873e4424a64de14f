/* The reports that a program's processes have written: finding them, wherever these are, adding
 * them up, showing them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct reprise_found {
	char **paths; /* sorted by name */
	size_t count;
	/* The first report that is not whole or cannot be read; NULL if there is none. */
	char *unusable;
};

/* Finds the reports of processes that the command with that mark started. `pattern` is
 * the library's: %p is the process. If another process's file had the name, the process
 * id follows it. */
void reprise_found_look(struct reprise_found *found, const char *pattern, const char *mark);
void reprise_found_free(struct reprise_found *found);

/* The reader prints these reports, joined, on stderr. False if it could not. */
bool reprise_cli_report_run(char *const *paths, size_t count);

/* The reader writes their page, and says on stderr where it is, unless `quiet`, or why not. `open`:
 * it is to be shown in a browser. Without a name (`html` is NULL) it is in a temporary file. */
void reprise_cli_report_page(char *const *paths, size_t count, const char *html, bool open,
                             bool quiet);

/* ---- their sum (summary.c) ---- */

/* What a process did. Reports of different kinds are not summed: one says what was replayed, the
 * other what would be. */
enum reprise_summary_kind {
	REPRISE_SUMMARY_REPLAYED, /* modes on and verify */
	REPRISE_SUMMARY_OBSERVED
};

/* All zero but for `kind`, before the first report is added. */
struct reprise_summary {
	enum reprise_summary_kind kind; /* the reports that are summed */
	unsigned long long ops, replayed, traces, bytes, launch_time_ns, verified, not_verified, graphs,
		busy, /* builds put off, since the GPU had work */
		unfit, longest_ns;
	unsigned long long paused, in_ranges, eager_stopped, eager_capturing; /* not among the ops */
	long long saved_ns;
	/* `snapshots`: how many of all these processes ended without a final report. */
	unsigned int processes, snapshots;
	unsigned int counted;   /* processes that are summed */
	unsigned int unchecked; /* of these, those that replay and are not of mode verify */
	/* Of the other kind, which is not summed. */
	unsigned int other_processes;
	unsigned long long other_ops;
	/* Processes that stood aside for a tool, and that had REPRISE=off: nothing is known of their
	 * launches. */
	unsigned int aside, off;
	unsigned int paused_now; /* of those that are summed: were paused when the report was written */
	char difference[512];    /* found by a process with REPRISE=verify; "": none */
	char aside_for[128];     /* the tool for which a process stood aside */
	char measured[192];      /* what turns have measured in the one process that is summed */
	bool any_measured;       /* any process has measured anything */
	char stopped[128];       /* why a process stopped replaying before its end */
};

/* Adds a process's report, or counts it as one of the other kind, or as off. False if it is no
 * report, or not whole. */
bool reprise_summary_add(struct reprise_summary *summary, const char *report);

/* True if the report's process was started by the command with that mark (base/launcher.h), or by a
 * command within it. */
bool reprise_summary_is_of(const char *report, const char *mark);

/* A report's text, to be freed; NULL and errno if it cannot be read. */
char *reprise_summary_read(const char *path);

/* What the processes did that are not summed, in words; false if there are none. */
bool reprise_summary_others(const struct reprise_summary *summary, char *words, size_t size);

/* In per cent. */
double reprise_summary_share(const struct reprise_summary *summary);

/* Why nothing was replayed, in words that follow a colon. Call it only if nothing was. */
const char *reprise_summary_why_none(const struct reprise_summary *summary, char *words,
                                     size_t size);
