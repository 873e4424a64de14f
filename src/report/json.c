/* The object begins with numbers and strings, each on a line of its own, for simple readers
 * (src/cli/summary.c). Lists and objects follow. All lists are bounded. */
#include "report/inner.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/launcher.h"
#include "base/lock.h"
#include "base/options.h"
#include "base/store.h"
#include "base/tools.h"
#include "graph/cost.h"
#include "graph/estimate.h"
#include "lane/eager.h"
#include "lane/verify.h"
#include "op/op.h"
#include "record/record.h"
#include "stats/counters.h"
#include "stats/machine.h"

#define FORMAT 3 /* of the report; 2 had other names */
#define COMMAND_MOST 2048

static struct timespec began;
static uint64_t began_ns;

static struct {
	char words[COMMAND_MOST];
	ssize_t length;
} command;

/* The command line, up to COMMAND_MOST bytes. Read through this thread: if the main thread has
 * ended, /proc/self has no command line. */
static void note_command(void)
{
	int file = open("/proc/thread-self/cmdline", O_RDONLY | O_CLOEXEC);

	command.length = file >= 0 ? read(file, command.words, sizeof(command.words)) : 0;
	if (file >= 0)
		close(file);
}

void reprise_json_begin(void)
{
	note_command();
	clock_gettime(CLOCK_REALTIME, &began);
	began_ns = reprise_clock_ns();
}

static void number(struct reprise_text *text, const char *name, uint64_t value)
{
	reprise_text_add(text, "  \"%s\": %" PRIu64 ",\n", name, value);
}

/* Adds the option's word for that value. */
static void add_word(struct reprise_text *text, enum reprise_option option, uint64_t value)
{
	const char *word = reprise_option_rows[option].words;

	while (value-- > 0)
		word = strchrnul(word, '|') + 1;
	reprise_text_add_string(text, word, strcspn(word, "|"));
}

static void string(struct reprise_text *text, const char *name, const char *value)
{
	if (value == NULL)
		return;
	reprise_text_add(text, "  \"%s\": ", name);
	reprise_text_add_string(text, value, strlen(value));
	reprise_text_add(text, ",\n");
}

/* ---- the process ---- */

/* The tool that was found in the process, and whether Reprise stands aside for it. */
static void add_tool(struct reprise_text *text)
{
	const struct reprise_tool *tool = reprise_tool_found();

	if (tool == NULL)
		return;
	string(text, "tool", tool->name);
	string(text, "tool_sign", tool->sign);
	string(text, "aside", reprise_tool_aside() ? tool->why : NULL);
}

static void add_command(struct reprise_text *text)
{
	bool any = false;

	reprise_text_add(text, "  \"command\": [");
	for (ssize_t at = 0, word; at < command.length; at += word + 1) {
		word = (ssize_t)strnlen(command.words + at, (size_t)(command.length - at));
		reprise_text_add(text, "%s", reprise_text_comma(&any));
		reprise_text_add_string(text, command.words + at, (size_t)word);
	}
	reprise_text_add(text, "],\n");
}

static void add_option(struct reprise_text *text, enum reprise_option option)
{
	const struct reprise_option_row *row = &reprise_option_rows[option];

	reprise_text_add(text, "\"%s\": {\"value\": ", row->variable);
	if (row->kind == REPRISE_OPTION_NUMBER)
		reprise_text_add(text, "%" PRIu64, reprise_option(option));
	else if (row->kind == REPRISE_OPTION_WORD)
		add_word(text, option, reprise_option(option));
	else
		reprise_text_add_string(text, reprise_option_text(option),
		                        strlen(reprise_option_text(option)));
	reprise_text_add(text, ", \"from\": ");
	reprise_text_add_string(text, reprise_option_origin(option),
	                        strlen(reprise_option_origin(option)));
	reprise_text_add(text, "}");
}

static void add_options(struct reprise_text *text)
{
	bool any = false;

	reprise_text_add(text, "  \"options\": {");
	for (int i = 0; i < REPRISE_OPTION_COUNT; i++) {
		reprise_text_add(text, "%s", reprise_text_line(&any));
		add_option(text, i);
	}
	reprise_text_add(text, "},\n");
}

static void add_machine(struct reprise_text *text)
{
	string(text, "version", reprise_version());
	string(text, "commit", reprise_commit());
	string(text, "gpu_name", reprise_machine.gpu[0] != '\0' ? reprise_machine.gpu : NULL);
	string(text, "driver_cuda", reprise_machine.cuda[0] != '\0' ? reprise_machine.cuda : NULL);
	string(text, "driver", reprise_machine.driver[0] != '\0' ? reprise_machine.driver : NULL);
}

static void add_times(struct reprise_text *text)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	reprise_text_add(text, "  \"started\": %lld.%03ld,\n", (long long)began.tv_sec,
	                 began.tv_nsec / 1000000);
	reprise_text_add(text, "  \"written\": %lld.%03ld,\n", (long long)now.tv_sec,
	                 now.tv_nsec / 1000000);
	number(text, "wall_ns", reprise_clock_ns() - began_ns);
}

static void add_process(struct reprise_text *text, enum reprise_json_moment moment)
{
	char host[256] = "";
	struct reprise_launcher launcher;

	gethostname(host, sizeof(host) - 1);
	number(text, "format", FORMAT);
	reprise_text_add(text, "  \"complete\": %s,\n",
	                 moment == REPRISE_JSON_AT_END ? "true" : "false");
	number(text, "pid", (uint64_t)getpid());
	reprise_text_add(text, "  \"mode\": ");
	add_word(text, REPRISE_OPTION_MODE, reprise_mode);
	reprise_text_add(text, ",\n");
	string(text, "host", host);
	string(text, "run", reprise_launcher_mark()[0] != '\0' ? reprise_launcher_mark() : NULL);
	if (reprise_launcher_found(&launcher)) {
		number(text, "rank", launcher.rank);
		string(text, "rank_variable", launcher.variable);
	}
	add_times(text);
	add_machine(text);
	add_tool(text);
	string(text, "recording_ended", reprise_record_cut_short());
	string(text, "difference",
	       reprise_verify_difference()[0] != '\0' ? reprise_verify_difference() : NULL);
	string(text, "stopped", reprise_stopped());
	if (reprise_is_paused())
		reprise_text_add(text, "  \"paused\": true,\n");
	reprise_rows_add_turns(text);
}

/* ---- counts ---- */

static void add_counts(struct reprise_text *text, const struct reprise_totals *totals)
{
	static const char *const counter_names[] = {
#define X(name, words) #name,
		REPRISE_COUNTERS(X)
#undef X
	};
	const struct reprise_lane_counts *counts = &totals->counts;
	uint64_t exited = 0;

	for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
		exited += counts->exited[i];
	number(text, "ops", totals->ops);
	number(text, "replayed", counts->replayed);
	number(text, "patched", counts->patched);
	number(text, "launches", counts->launches);
	number(text, "traces", counts->traces);
	number(text, "queue_full", counts->queue_full);
	number(text, "evicted", counts->evicted);
	number(text, "siblings", counts->siblings);
	number(text, "twins", counts->twins);
	number(text, "backed_off", counts->backed_off);
	number(text, "unprofitable", counts->lost);
	number(text, "short_eager", counts->short_eager);
	number(text, "short_not_built", counts->short_not_built);
	number(text, "kin_not_built", counts->kin_not_built);
	number(text, "side_exits", reprise_side_exits(counts));
	number(text, "exited_ops", exited);
	for (int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		number(text, counter_names[i], reprise_counted(i));
	number(text, "graph_bytes", reprise_estimate_bytes());
	number(text, "graph_bytes_most", reprise_estimate_most());
	number(text, "node_bytes", reprise_estimate_node_bytes());
	number(text, "host_bytes", reprise_store_used());
	number(text, "host_bytes_most", reprise_store_most());
	number(text, "wait_longest_ns", atomic_load(&reprise_wait_longest_ns));
	number(text, "launch_time_ns", totals->gain.all_ns);
	reprise_text_add(text, "  \"saved_ns\": %" PRId64 ",\n", totals->gain.saved_ns);
}

/* The names of what was not measured in this process, as a list. */
static void add_assumed(struct reprise_text *text, const char *key, const char *const *names,
                        const bool *measured, int count)
{
	bool any = false;

	reprise_text_add(text, "\"%s\": [", key);
	for (int i = 0; i < count; i++)
		if (!measured[i])
			reprise_text_add(text, "%s\"%s\"", reprise_text_comma(&any), names[i]);
	reprise_text_add(text, "]");
}

static void add_costs(struct reprise_text *text)
{
	static const char *const names[] = {
#define X(name, ns, words) #name,
		REPRISE_COSTS(X)
#undef X
	};
	uint64_t costs[REPRISE_COST_COUNT];
	bool measured[REPRISE_COST_COUNT];

	for (int i = 0; i < REPRISE_COST_COUNT; i++) {
		costs[i] = reprise_cost(i, 1);
		measured[i] = reprise_cost_is_measured(i);
	}
	reprise_text_add(text, "  ");
	reprise_text_add_named(text, "cost_ns", names, costs, REPRISE_COST_COUNT);
	reprise_text_add(text, ",\n  ");
	add_assumed(text, "cost_assumed", names, measured, REPRISE_COST_COUNT);
}

static void add_reasons(struct reprise_text *text, const struct reprise_totals *totals)
{
	uint64_t unfit[REPRISE_UNFIT_COUNT];

	memcpy(unfit, totals->counts.unfit, sizeof(unfit));
	unfit[REPRISE_UNFIT_NO_LANE] = atomic_load(&reprise_ops_without_lane);
	reprise_text_add(text, ",\n  ");
	reprise_text_add_named(text, "exits", reprise_exit_names, totals->counts.exits,
	                       REPRISE_EXIT_COUNT);
	reprise_text_add(text, ",\n  ");
	reprise_text_add_named(text, "exited", reprise_exit_names, totals->counts.exited,
	                       REPRISE_EXIT_COUNT);
	reprise_text_add(text, ",\n  ");
	reprise_text_add_named(text, "unfit", reprise_unfit_names + 1, unfit + 1,
	                       REPRISE_UNFIT_COUNT - 1);
	reprise_text_add(text, ",\n  ");
	reprise_text_add_named(text, "kinds", reprise_op_kind_names, totals->counts.kinds,
	                       REPRISE_OP_KIND_COUNT);
}

static void add_gain(struct reprise_text *text, const struct reprise_gain *gain)
{
	reprise_text_add(text, ",\n  \"gain\": {");
	reprise_text_add_named(text, "eager_ns", reprise_op_kind_names, gain->kind_ns,
	                       REPRISE_OP_KIND_COUNT);
	reprise_text_add(text, ", ");
	add_assumed(text, "eager_assumed", reprise_op_kind_names, gain->kind_measured,
	            REPRISE_OP_KIND_COUNT);
	reprise_text_add(text,
	                 ", \"eager_measured\": %s, \"launch_ns\": %" PRIu64
	                 ", \"launch_measured\": %s,\n",
	                 gain->eager_measured ? "true" : "false", gain->launch_ns,
	                 gain->launch_measured ? "true" : "false");
	reprise_text_add(text,
	                 "    \"replaced_ns\": %" PRIu64 ", \"launches_ns\": %" PRIu64
	                 ", \"patches_ns\": %" PRIu64,
	                 gain->replaced_ns, gain->launches_ns, gain->patches_ns);
	reprise_text_add(text,
	                 ", \"exits_ns\": %" PRIu64 ", \"defers_ns\": %" PRIu64
	                 ", \"build_ns\": %" PRIu64 ",\n",
	                 gain->exits_ns, gain->defers_ns, gain->build_ns);
	reprise_text_add(text,
	                 "    \"firsts\": %" PRIu64 ", \"pauses\": %" PRIu64 ", \"pauses_ns\": %" PRIu64
	                 "}",
	                 gain->firsts, gain->pauses, gain->pauses_ns);
}

void reprise_json_write(struct reprise_text *text, const struct reprise_totals *totals,
                        enum reprise_json_moment moment)
{
	reprise_text_add(text, "{\n");
	add_process(text, moment);
	add_counts(text, totals);
	add_command(text);
	add_options(text);
	add_costs(text);
	add_reasons(text, totals);
	add_gain(text, &totals->gain);
	reprise_rows_add_traces(text, totals);
	reprise_rows_add_lanes(text);
	reprise_rows_add_kernels(text, totals->accounts.by_name);
	reprise_rows_add_gpu(text);
	reprise_rows_add_series(text);
	reprise_rows_add_histograms(text);
	reprise_rows_add_call_sites(text, moment != REPRISE_JSON_SNAPSHOT);
	reprise_text_add(text, "\n}\n");
}
