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
	summary->updates += number(report, "updates") + number(report, "node_updates");
	summary->side_exits += number(report, "side_exits");
	summary->bytes += number(report, "graph_bytes") + number(report, "host_bytes");
	summary->verified += number(report, "nodes_verified");
	summary->not_verified += number(report, "nodes_not_verified");
	summary->processes++;
}

double reprise_summary_share(const struct reprise_summary *summary)
{
	return 100.0 * (double)summary->replayed / (double)(summary->ops > 0 ? summary->ops : 1);
}

static void add_file(struct reprise_summary *summary, const char *path)
{
	static char report[16384];
	FILE *file = fopen(path, "r");
	size_t length;

	if (file == NULL)
		return;
	length = fread(report, 1, sizeof(report) - 1, file);
	fclose(file);
	report[length] = '\0';
	reprise_summary_add(summary, report);
}

void reprise_summary_collect(struct reprise_summary *summary, const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		char path[1024];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		add_file(summary, path);
		unlink(path);
	}
	if (directory != NULL)
		closedir(directory);
	rmdir(folder);
}
