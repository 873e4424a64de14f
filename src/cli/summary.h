/* What the reports of a program's processes add up to. */
#pragma once

#include <stdbool.h>

struct reprise_summary {
	unsigned long long ops, replayed, traces, bytes, launch_time_ns, verified, not_verified;
	long long saved_ns;
	unsigned int processes;
	char difference[512]; /* that a process found with REPRISE=verify; "" if none did */
	char aside_for[128]; /* the tool for which a process stood aside */
};

/* Adds a report, as a process writes it. */
void reprise_summary_add(struct reprise_summary *summary, const char *report);

/* Adds the report in a file; and all those in a folder. */
void reprise_summary_add_file(struct reprise_summary *summary, const char *path);
void reprise_summary_add_folder(struct reprise_summary *summary, const char *folder);

/* Removes a folder of reports. */
void reprise_summary_remove(const char *folder);

/* In per cent. */
double reprise_summary_share(const struct reprise_summary *summary);
