/* What the reports of a program's processes add up to. */
#pragma once

#include <stdbool.h>

struct reprise_summary {
	unsigned long long ops, replayed, traces, updates, side_exits, bytes, verified, not_verified;
	unsigned int processes;
	char difference[512]; /* that a process found with REPRISE=verify; "" if none did */
	char aside_for[128]; /* the tool for which a process stood aside */
};

/* Adds a report, as a process writes it. */
void reprise_summary_add(struct reprise_summary *summary, const char *report);

/* Adds up the reports in the folder, and removes them with it. */
void reprise_summary_collect(struct reprise_summary *summary, const char *folder);

/* In per cent. */
double reprise_summary_share(const struct reprise_summary *summary);
