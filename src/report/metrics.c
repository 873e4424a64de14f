#include "report/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/launcher.h"
#include "base/options.h"
#include "base/output.h"
#include "base/profile.h"
#include "base/thread.h"
#include "graph/estimate.h"
#include "lane/turns.h"
#include "report/text.h"
#include "stats/counters.h"
#include "trace/trace.h"

#define LABELS_MOST 256 /* bytes: of a process */
#define NAME_MOST 64    /* bytes: of a file, in the folder */

static struct {
	char folder[REPRISE_OUTPUT_PATH_MOST]; /* absolute; "": nobody wants them */
	char labels[LABELS_MOST];
	pid_t written; /* by this process, so that a child leaves its parent's file; 0: by none */
} metrics;

const char *reprise_metrics_escape(const char *value, char *escaped, size_t size)
{
	size_t length = 0;

	for (; *value != '\0' && length + 3 < size; value++) {
		if (*value == '"' || *value == '\\')
			escaped[length++] = '\\';
		escaped[length++] = *value >= ' ' && *value <= '~' ? *value : '?';
	}
	escaped[length] = '\0';
	return escaped;
}

/* The process's own are known when the first op comes: its number after a fork, too. */
static void name_process(void)
{
	char program[LABELS_MOST / 2], rank[32] = "";
	struct reprise_launcher launcher;

	if (reprise_launcher_found(&launcher))
		snprintf(rank, sizeof(rank), ",rank=\"%" PRIu64 "\"", launcher.rank);
	snprintf(metrics.labels, sizeof(metrics.labels), "pid=\"%d\",program=\"%s\"%s", (int)getpid(),
	         reprise_metrics_escape(reprise_profile_program(), program, sizeof(program)), rank);
}

void reprise_metrics_begin(void)
{
	const char *folder = reprise_option_text(REPRISE_OPTION_METRICS);
	char here[REPRISE_OUTPUT_PATH_MOST] = "";

	metrics.folder[0] = '\0';
	if (*folder == '\0' || (*folder != '/' && getcwd(here, sizeof(here)) == NULL))
		return;
	if (snprintf(metrics.folder, sizeof(metrics.folder), "%s%s%s", here, here[0] != '\0' ? "/" : "",
	             folder) >= (int)sizeof(metrics.folder))
		metrics.folder[0] = '\0';
}

bool reprise_metrics_wanted(void)
{
	return metrics.folder[0] != '\0';
}

void reprise_metrics_forget(void)
{
	metrics.written = 0;
}

/* ---- what is in it ---- */

static void begin(struct reprise_text *text, const char *name, const char *type, const char *help)
{
	reprise_text_add(text, "# HELP reprise_%s %s\n# TYPE reprise_%s %s\n", name, help, name, type);
}

static void add_count(struct reprise_text *text, const char *name, const char *help, uint64_t value)
{
	begin(text, name, "counter", help);
	reprise_text_add(text, "reprise_%s{%s} %" PRIu64 "\n", name, metrics.labels, value);
}

static void add_value(struct reprise_text *text, const char *name, const char *type,
                      const char *help, double value)
{
	begin(text, name, type, help);
	reprise_text_add(text, "reprise_%s{%s} %.9g\n", name, metrics.labels, value);
}

/* Of a process that was killed the file is left: what else it says may be true of one that runs. */
static void add_time(struct reprise_text *text)
{
	uint64_t now_ms = reprise_clock_common_ns() / 1000000;

	begin(text, "written_timestamp_seconds", "gauge",
	      "When this file was written, in seconds since 1970: once a second while launches come.");
	reprise_text_add(text, "reprise_written_timestamp_seconds{%s} %" PRIu64 ".%03u\n",
	                 metrics.labels, now_ms / 1000, (unsigned int)(now_ms % 1000));
}

static void add_exits(struct reprise_text *text, const struct reprise_lane_counts *counts)
{
	begin(
		text, "side_exits_total", "counter",
		"Early exits: sequences that ended before their last call, whose deferred calls were issued eagerly.");
	for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
		reprise_text_add(text, "reprise_side_exits_total{%s,reason=\"%s\"} %" PRIu64 "\n",
		                 metrics.labels, reprise_exit_names[i], counts->exits[i]);
}

/* Only what was measured. */
static void add_turns(struct reprise_text *text)
{
	struct reprise_turns_told told = reprise_turns_read();
	const struct reprise_turns_result *result = &told.result;

	if (!told.on)
		return;
	add_count(text, "turns_total", "Turns, of which each replays or is eager, to measure the gain.",
	          result->turns);
	add_value(text, "turns_lost_seconds_total", "counter",
	          "Time lost by measuring: what the slower turns took longer.",
	          (double)result->lost_ns / 1e9);
	if (result->verdict == REPRISE_VERDICT_REPLAY)
		add_value(
			text, "gain_ratio", "gauge",
			"Eager time over replaying time, as turns have measured; below 1, replaying is slower.",
			result->gain / 1e3);
}

static void add_all(struct reprise_text *text, const struct reprise_totals *totals)
{
	const struct reprise_lane_counts *counts = &totals->counts;

	add_count(text, "ops_total", "Launches that Reprise has seen: kernels, copies, memsets.",
	          totals->ops);
	add_count(text, "replayed_ops_total", "Launches replayed from graphs.", counts->replayed);
	add_count(text, "eager_turn_ops_total",
	          "Launches measured eagerly, and those of loops left eager.", counts->in_turns);
	add_count(text, "paused_ops_total", "Launches made while Reprise was off.",
	          reprise_counted(REPRISE_COUNT_paused_ops));
	add_count(text, "graph_launches_total", "Graph launches.", counts->launches);
	add_count(text, "traces_total", "Sequences that were found to repeat.", counts->traces);
	add_exits(text, counts);
	add_value(text, "graph_bytes", "gauge", "Device memory of graphs, as estimated.",
	          (double)reprise_estimate_bytes());
	add_turns(text);
	add_time(text);
}

static int write_text(int file, const struct reprise_totals *totals)
{
	static struct reprise_text text; /* too large for small stacks */

	text.file = file;
	text.error = 0;
	text.length = 0;
	add_all(&text, totals);
	return reprise_text_end(&text);
}

/* ---- the file ---- */

static int open_folder(void)
{
	return open(metrics.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void name_files(char name[NAME_MOST], char draft[NAME_MOST])
{
	snprintf(name, NAME_MOST, "reprise-%d.prom", (int)getpid());
	snprintf(draft, NAME_MOST, ".reprise-%d.prom.part", (int)getpid());
}

/* 0: there is nothing of that name, or what is there may be replaced. Otherwise the error. */
static int in_the_way(int folder, const char *name)
{
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : errno;
	return reprise_output_may_replace(&status) ? 0 : REPRISE_OUTPUT_NOT_OURS;
}

/* The draft of a process that was killed, and had this one's number, is in the way. */
static int open_draft(int folder, const char *draft)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int file = openat(folder, draft, flags, 0644);

	if (file < 0 && errno == EEXIST && in_the_way(folder, draft) == 0 &&
	    unlinkat(folder, draft, 0) == 0)
		file = openat(folder, draft, flags, 0644);
	return file;
}

static int write_in(int folder, const struct reprise_totals *totals)
{
	char name[NAME_MOST], draft[NAME_MOST];
	int file, error;

	name_files(name, draft);
	error = in_the_way(folder, name);
	if (error != 0)
		return error;
	file = open_draft(folder, draft);
	if (file < 0)
		return errno == EEXIST ? REPRISE_OUTPUT_NOT_OURS : errno;
	error = write_text(file, totals);
	close(file);
	if (error == 0 && renameat(folder, draft, folder, name) != 0)
		error = errno;
	if (error != 0)
		unlinkat(folder, draft, 0);
	else
		metrics.written = getpid();
	return error;
}

int reprise_metrics_write(const struct reprise_totals *totals)
{
	int folder, error;

	if (reprise_filters_came())
		return REPRISE_OUTPUT_LOCKED_IN;
	folder = open_folder();
	if (folder < 0)
		return errno;
	name_process();
	error = write_in(folder, totals);
	close(folder);
	return error;
}

void reprise_metrics_end(void)
{
	char name[NAME_MOST], draft[NAME_MOST];
	int folder;

	if (metrics.written != getpid() || reprise_filters_came())
		return;
	metrics.written = 0;
	folder = open_folder();
	if (folder < 0)
		return;
	name_files(name, draft);
	unlinkat(folder, name, 0);
	close(folder);
}
