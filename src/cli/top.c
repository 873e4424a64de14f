/* Asks each process for its report, and shows a line of it. What came since the picture before is
 * known of processes that were in it. */
#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/control.h"
#include "cli/processes.h"
#include "cli/reports.h"

#define INTERVAL_S 1
#define PATIENCE_MS \
	200 /* for a piece of an answer: a process that is stopped must not hold up all */
#define LINE_MOST 320

/* A process as it was in a picture. */
struct seen {
	pid_t process;
	unsigned long long ops, replayed, unwatched;
	bool paused;
};

static struct seen before[REPRISE_PROCESSES_MOST];
static size_t before_count;

static const struct seen *seen_before(pid_t process)
{
	for (size_t i = 0; i < before_count; i++)
		if (before[i].process == process)
			return &before[i];
	return NULL;
}

/* The report's sum, whatever its mode. False if it is none. */
static bool sum(const char *report, struct reprise_summary *summary)
{
	*summary = (struct reprise_summary){.kind = REPRISE_SUMMARY_REPLAYED};
	if (!reprise_summary_add(summary, report))
		return false;
	if (summary->other_processes == 0)
		return true;
	*summary = (struct reprise_summary){.kind = REPRISE_SUMMARY_OBSERVED};
	return reprise_summary_add(summary, report);
}

static const char *mode_of(const struct reprise_summary *summary)
{
	return summary->aside > 0                          ? "aside"
	       : summary->counted == 0                     ? "off"
	       : summary->paused_now > 0                   ? "paused"
	       : summary->kind == REPRISE_SUMMARY_OBSERVED ? "observe"
	       : summary->unchecked > 0                    ? "on"
	                                                   : "verify";
}

/* The share of the launches since the picture before. */
static void tell_lately(const struct seen *now, char words[REPRISE_AMOUNT_MOST])
{
	const struct seen *then = seen_before(now->process);
	unsigned long long ops = then != NULL ? now->ops - then->ops : 0;

	if (then == NULL)
		strcpy(words, "-");
	else if (ops > 0)
		snprintf(words, REPRISE_AMOUNT_MOST, "%.1f %%",
		         100.0 * (double)(now->replayed - then->replayed) / (double)ops);
	else
		strcpy(words, now->unwatched == then->unwatched ? "idle" : now->paused ? "paused" : "off");
}

/* By turns, or what is expected of replaying. */
static void tell_gain(const struct reprise_summary *summary, char *words, size_t size)
{
	char expected[REPRISE_EXPECTED_MOST];

	if (summary->measured[0] != '\0')
		snprintf(words, size, "%s", summary->measured);
	else if (summary->kind != REPRISE_SUMMARY_OBSERVED && summary->replayed > 0)
		snprintf(words, size, "not measured");
	else if (summary->kind != REPRISE_SUMMARY_OBSERVED || summary->saved_ns == 0)
		snprintf(words, size, "-");
	else
		snprintf(words, size, "would %s",
		         reprise_amount_expected(summary->saved_ns, summary->launch_time_ns, expected));
}

static void show_line(const char *line)
{
	struct winsize size;
	int columns = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	                      size.ws_col > 0
	                  ? size.ws_col
	                  : LINE_MOST;

	printf("%.*s\n", columns, line);
}

static void show_process(pid_t process, struct seen *now)
{
	char line[LINE_MOST], name[REPRISE_PROCESS_NAME_MOST], ops[REPRISE_AMOUNT_MOST],
		lately[REPRISE_AMOUNT_MOST], gain[192], share[16];
	struct reprise_summary summary;
	const char *why;
	char *report = reprise_cli_ask(process, "report", PATIENCE_MS, &why);

	*now = (struct seen){.process = process};
	reprise_process_name(process, name);
	if (report == NULL || !sum(report, &summary)) {
		snprintf(line, sizeof(line), "%7d  %-20.20s  %s", (int)process, name,
		         report == NULL ? why : "answers with something else than a report");
	} else {
		now->ops = summary.ops;
		now->replayed = summary.replayed;
		now->unwatched = summary.paused + summary.eager_stopped;
		now->paused = summary.paused_now > 0;
		tell_lately(now, lately);
		tell_gain(&summary, gain, sizeof(gain));
		snprintf(share, sizeof(share), "%.1f %%", reprise_summary_share(&summary));
		snprintf(line, sizeof(line), "%7d  %-20.20s  %-7s  %15s  %8s  %11s  %7.1f MiB  %s",
		         (int)process, name, mode_of(&summary), reprise_amount_count(summary.ops, ops),
		         share, lately, (double)summary.bytes / (1 << 20), gain);
	}
	show_line(line);
	free(report);
}

static void show_all(void)
{
	static struct seen now[REPRISE_PROCESSES_MOST];
	pid_t found[REPRISE_PROCESSES_MOST];
	size_t count = reprise_processes_find(found);
	char line[LINE_MOST];

	if (count == 0) {
		show_line("no process accepts control: start programs with --control");
	} else {
		snprintf(line, sizeof(line), "%7s  %-20s  %-7s  %15s  %8s  %11s  %11s  %s", "process",
		         "program", "mode", "launches", "replayed", "last second", "memory", "gain");
		show_line(line);
	}
	for (size_t i = 0; i < count; i++)
		show_process(found[i], &now[i]);
	memcpy(before, now, count * sizeof(*now));
	before_count = count;
}

int reprise_cli_top(bool once)
{
	bool terminal = isatty(STDOUT_FILENO) == 1;

	for (;;) {
		if (terminal && !once)
			fputs("\033[H\033[J", stdout); /* to the top left; erases what is there */
		show_all();
		if (!terminal && !once)
			putchar('\n'); /* between two pictures */
		if (fflush(stdout) != 0)
			return 1;
		if (once)
			return 0;
		nanosleep(&(struct timespec){.tv_sec = INTERVAL_S}, NULL);
	}
}
