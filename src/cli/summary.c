#include "summary.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long long number(const char *report, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\n  \"%s\": ", key);
	at = strstr(report, quoted);
	return at != NULL ? strtoull(at + strlen(quoted), NULL, 10) : 0;
}

/* As number(), for a string without escapes; "" if there is none. */
static void word(const char *report, const char *key, char *text, size_t size)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\n  \"%s\": \"", key);
	at = strstr(report, quoted);
	snprintf(text, size, "%.*s", at != NULL ? (int)strcspn(at + strlen(quoted), "\"") : 0, at != NULL ? at + strlen(quoted) : "");
}

void reprise_summary_add(struct reprise_summary *summary, const char *report)
{
	char aside[8];

	word(report, "aside", aside, sizeof(aside));
	if (aside[0] != '\0')
		word(report, "tool", summary->aside_for, sizeof(summary->aside_for));
	if (summary->difference[0] == '\0')
		word(report, "difference", summary->difference, sizeof(summary->difference));
	summary->ops += number(report, "ops");
	summary->replayed += number(report, "replayed");
	summary->traces += number(report, "traces");
	summary->launch_time_ns += number(report, "launch_time_ns");
	summary->saved_ns += (long long)number(report, "saved_ns"); /* a negative one comes out right */
	summary->bytes += number(report, "graph_bytes") + number(report, "host_bytes");
	summary->verified += number(report, "nodes_verified");
	summary->not_verified += number(report, "nodes_not_verified");
	summary->processes++;
}

double reprise_summary_share(const struct reprise_summary *summary)
{
	return 100.0 * (double)summary->replayed / (double)(summary->ops > 0 ? summary->ops : 1);
}

void reprise_summary_add_file(struct reprise_summary *summary, const char *path)
{
	static char report[16384]; /* its beginning, which has all that is looked for */
	FILE *file = fopen(path, "r");
	size_t length;

	if (file == NULL)
		return;
	length = fread(report, 1, sizeof(report) - 1, file);
	fclose(file);
	report[length] = '\0';
	reprise_summary_add(summary, report);
}

/* Calls `each` for the reports in the folder. */
static void visit(const char *folder, void (*each)(struct reprise_summary *summary, const char *path), struct reprise_summary *summary)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		char path[1024];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		each(summary, path);
	}
	if (directory != NULL)
		closedir(directory);
}

void reprise_summary_add_folder(struct reprise_summary *summary, const char *folder)
{
	visit(folder, reprise_summary_add_file, summary);
}

static void remove_report(struct reprise_summary *summary, const char *path)
{
	(void)summary;
	unlink(path);
}

void reprise_summary_remove(const char *folder)
{
	visit(folder, remove_report, NULL);
	rmdir(folder);
}
