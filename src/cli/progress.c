/*
 * Asks the started process and its descendants: one that it starts may be the one under Reprise.
 * The cursor stays at the beginning of the line, so the program's output overwrites the line.
 */
#include "cli/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/processes.h"
#include "cli/reports.h"

#define ASKED_MOST 16
#define PATIENCE_MS 100
#define ANCESTORS_MOST 64

static bool shown;

bool reprise_progress_wanted(void)
{
	return isatty(STDERR_FILENO) == 1;
}

static pid_t parent_of(pid_t process)
{
	char path[64], line[512];
	const char *behind_name = NULL;
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fgets(line, sizeof(line), file) != NULL)
		behind_name = strrchr(line, ')'); /* the name may contain anything */
	if (behind_name == NULL || sscanf(behind_name, ") %*c %d", &parent) != 1)
		parent = 0;
	fclose(file);
	return parent;
}

static bool descends(pid_t process, pid_t root)
{
	for (int i = 0; process > 1 && i < ANCESTORS_MOST; i++) {
		if (process == root)
			return true;
		process = parent_of(process);
	}
	return false;
}

static void ask(pid_t process, struct reprise_summary *summary)
{
	const char *why;
	char *answer = reprise_cli_ask(process, "report", PATIENCE_MS, &why);

	if (answer != NULL)
		reprise_summary_add(summary, answer);
	free(answer);
}

static void ask_all(pid_t root, struct reprise_summary *summary)
{
	pid_t found[REPRISE_PROCESSES_MOST];
	size_t count = reprise_processes_find(found);
	int asked = 0;

	for (size_t i = 0; i < count && asked < ASKED_MOST; i++) {
		if (!descends(found[i], root))
			continue;
		ask(found[i], summary);
		asked++;
	}
}

static int columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

void reprise_progress_show(pid_t root)
{
	struct reprise_summary summary = {0};
	char line[160], processes[32] = "", launches[REPRISE_AMOUNT_MOST];

	if (tcgetpgrp(STDERR_FILENO) != getpgrp())
		return;
	ask_all(root, &summary);
	if (summary.counted == 0)
		return;
	if (summary.counted > 1)
		snprintf(processes, sizeof(processes), ", %u processes", summary.counted);
	snprintf(line, sizeof(line),
	         "reprise: %.1f %% of %s launches replayed, %llu sequence%s, %.1f MiB%s",
	         reprise_summary_share(&summary), reprise_amount_count(summary.ops, launches),
	         summary.traces, summary.traces == 1 ? "" : "s", (double)summary.bytes / (1 << 20),
	         processes);
	fprintf(stderr, "\r%.*s\033[K\r", columns(), line);
	shown = true;
}

void reprise_progress_erase(void)
{
	if (shown && tcgetpgrp(STDERR_FILENO) == getpgrp())
		fputs("\r\033[K", stderr);
}
