/* Reads reports line by line, as src/report/json.c writes them: each value looked for is on a line
 * of its own, after two spaces. */
#include "cli/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define FILE_MOST (64l << 20)

/* The text after "key": on its line; NULL if there is no such line. */
static const char *value_of(const char *report, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\n  \"%s\": ", key);
	at = strstr(report, quoted);
	return at != NULL ? at + strlen(quoted) : NULL;
}

static unsigned long long number(const char *report, const char *key)
{
	const char *at = value_of(report, key);

	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* As number(), for a string; "" if there is none. Only printable characters: it goes to
 * a terminal. */
static void word(const char *report, const char *key, char *text, size_t size)
{
	const char *at = value_of(report, key);
	size_t length = at != NULL && *at == '"' ? strcspn(at + 1, "\"\n") : 0;

	reprise_printable(length > 0 ? at + 1 : "", length, text, size);
}

/* The sum of the numbers in an object on one line. */
static unsigned long long sum(const char *report, const char *key)
{
	const char *at = value_of(report, key), *end = at != NULL ? at + strcspn(at, "}\n") : NULL;
	unsigned long long all = 0;

	while (at != NULL && (at = memchr(at, ':', (size_t)(end - at))) != NULL)
		all += strtoull(++at, NULL, 10);
	return all;
}

static bool is_whole(const char *report)
{
	size_t length = strlen(report);

	while (length > 0 && (report[length - 1] == '\n' || report[length - 1] == ' '))
		length--;
	return report[0] == '{' && length > 1 && report[length - 1] == '}' &&
	       value_of(report, "format") != NULL && value_of(report, "mode") != NULL &&
	       value_of(report, "ops") != NULL;
}

bool reprise_summary_is_of(const char *report, const char *mark)
{
	size_t length = strlen(mark);
	char run[512];

	word(report, "run", run, sizeof(run));
	return strncmp(run, mark, length) == 0 && (run[length] == '\0' || run[length] == '/');
}

static bool stood_aside(const char *report)
{
	return value_of(report, "aside") != NULL;
}

static bool is_off(const char *report)
{
	char mode[16];

	word(report, "mode", mode, sizeof(mode));
	return strcmp(mode, "off") == 0;
}

static enum reprise_summary_kind kind_of(const char *report)
{
	char mode[16];

	word(report, "mode", mode, sizeof(mode));
	return strcmp(mode, "on") == 0 || strcmp(mode, "verify") == 0 ? REPRISE_SUMMARY_REPLAYED
	                                                              : REPRISE_SUMMARY_OBSERVED;
}

static void add_counts(struct reprise_summary *summary, const char *report)
{
	char mode[16], stopped[sizeof(summary->stopped)];

	word(report, "stopped", stopped, sizeof(stopped));
	if (stopped[0] != '\0' && strcmp(stopped, "the process ends") != 0)
		strcpy(summary->stopped, stopped);
	if (summary->difference[0] == '\0')
		word(report, "difference", summary->difference, sizeof(summary->difference));
	word(report, "measured", summary->measured, sizeof(summary->measured));
	summary->any_measured = summary->any_measured || summary->measured[0] != '\0';
	if (summary->counted > 0)
		summary->measured[0] = '\0'; /* each has measured itself: the reports tell of all */
	word(report, "mode", mode, sizeof(mode));
	summary->unchecked += strcmp(mode, "on") == 0;
	summary->paused_now += value_of(report, "paused") != NULL;
	summary->ops += number(report, "ops");
	summary->replayed += number(report, "replayed");
	summary->traces += number(report, "traces");
	summary->graphs += number(report, "graphs_built");
	summary->busy += number(report, "quiescence_missed");
	summary->unfit += sum(report, "unfit");
	summary->paused += number(report, "paused_ops");
	summary->in_ranges += number(report, "nvtx_ops");
	summary->eager_stopped += number(report, "eager_stopped");
	summary->eager_capturing += number(report, "eager_capturing");
	summary->launch_time_ns += number(report, "launch_time_ns");
	/* wraps, so negative numbers are right */
	summary->saved_ns += (long long)number(report, "saved_ns");
	summary->bytes += number(report, "graph_bytes") + number(report, "host_bytes");
	summary->verified += number(report, "nodes_verified");
	summary->not_verified += number(report, "nodes_not_verified");
	if (number(report, "wall_ns") > summary->longest_ns)
		summary->longest_ns = number(report, "wall_ns");
	summary->counted++;
}

static void note_tool(struct reprise_summary *summary, const char *report)
{
	char tool[sizeof(summary->aside_for)];

	word(report, "tool", tool, sizeof(tool));
	strcpy(summary->aside_for,
	       summary->aside == 1 || strcmp(summary->aside_for, tool) == 0 ? tool : "several tools");
}

bool reprise_summary_add(struct reprise_summary *summary, const char *report)
{
	const char *complete = value_of(report, "complete");

	if (!is_whole(report))
		return false;
	summary->snapshots += complete != NULL && strncmp(complete, "false", 5) == 0;
	summary->processes++;
	if (stood_aside(report)) {
		summary->aside++;
		note_tool(summary, report);
	} else if (is_off(report)) {
		summary->off++;
	} else if (kind_of(report) == summary->kind) {
		add_counts(summary, report);
	} else {
		summary->other_processes++;
		summary->other_ops += number(report, "ops");
	}
	return true;
}

static bool read_all(int file, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	while (length < size && (got = read(file, text + length, size - length)) != 0) {
		if (got < 0 && errno != EINTR)
			return false;
		length += got > 0 ? (size_t)got : 0;
	}
	text[length] = '\0';
	return true;
}

char *reprise_summary_read(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error = 0;
	struct stat status;
	char *text = NULL;

	if (file < 0)
		return NULL;
	if (fstat(file, &status) != 0)
		error = errno;
	else if (!S_ISREG(status.st_mode) || status.st_size > FILE_MOST)
		error = EINVAL;
	else if ((text = malloc((size_t)status.st_size + 1)) == NULL ||
	         !read_all(file, text, (size_t)status.st_size))
		error = errno;
	close(file);
	if (error != 0) {
		free(text);
		text = NULL;
		errno = error;
	}
	return text;
}

static void add_words(char *words, size_t size, unsigned int processes, const char *what,
                      const char *of)
{
	size_t length = strlen(words);

	if (processes > 0)
		snprintf(words + length, size - length, "%s%u %s %s%s", length > 0 ? "; " : "", processes,
		         processes == 1 ? "process" : "processes", what, of);
}

bool reprise_summary_others(const struct reprise_summary *summary, char *words, size_t size)
{
	char ops[REPRISE_AMOUNT_MOST], what[96];

	words[0] = '\0';
	snprintf(what, sizeof(what), "%s %s launches",
	         summary->kind == REPRISE_SUMMARY_OBSERVED ? "replayed instead of observing:"
	                                                   : "only observed",
	         reprise_amount_count(summary->other_ops, ops));
	add_words(words, size, summary->other_processes, what, "");
	add_words(words, size, summary->aside, "stood aside for ", summary->aside_for);
	/* every command sets another mode than off */
	add_words(words, size, summary->off,
	          "had REPRISE=off, which the program set, or what started it", "");
	return words[0] != '\0';
}

double reprise_summary_share(const struct reprise_summary *summary)
{
	return 100.0 * (double)summary->replayed / (double)(summary->ops > 0 ? summary->ops : 1);
}

const char *reprise_summary_why_none(const struct reprise_summary *summary, char *words,
                                     size_t size)
{
	char time[REPRISE_AMOUNT_MOST];

	reprise_amount_duration((double)summary->longest_ns, time);
	if (summary->stopped[0] != '\0')
		snprintf(words, size, "Reprise stopped: %s", summary->stopped);
	else if (summary->measured[0] != '\0' && !reprise_begins(summary->measured, "too short") &&
	         !reprise_begins(summary->measured, "not measured"))
		snprintf(words, size, "%s", summary->measured);
	else if (summary->unfit >= summary->ops)
		snprintf(words, size, "none of them can be part of a graph; reprise observe says why");
	else if (summary->traces == 0)
		snprintf(words, size, "in %s no sequence of launches came often enough", time);
	else if (summary->graphs == 0 && summary->busy > 0)
		snprintf(words, size,
		         "graphs are built while the GPU is idle, and it was not when one was to be built");
	else if (summary->graphs == 0)
		snprintf(words, size, "the program ended after %s, before any graph was ready", time);
	else
		snprintf(
			words, size,
			"the program ended after %s, before any graph that was ready was needed again, or was seen to pay",
			time);
	return words;
}
