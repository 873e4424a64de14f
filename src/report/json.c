/*
 * The object begins with numbers and strings, each on a line of its own, which simple readers can find (src/cli/run.c); lists and objects follow.
 * All lists are bounded.
 */
#include "json.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/launcher.h"
#include "../base/lock.h"
#include "../base/start.h"
#include "../base/store.h"
#include "../base/tools.h"
#include "../graph/cost.h"
#include "../graph/ledger.h"
#include "../lane/process.h"
#include "../lane/registry.h"
#include "../op/name.h"
#include "../record/record.h"
#include "counters.h"
#include "gpu.h"
#include "histogram.h"
#include "places.h"
#include "series.h"

#define FORMAT 2 /* of the report: 1 had numbers only */
#define LANES_MOST 64
#define COMMAND_MOST 2048

static struct timespec began;
static uint64_t began_ns;

void reprise_json_begin(void)
{
	clock_gettime(CLOCK_REALTIME, &began);
	began_ns = reprise_clock_ns();
}

static void number(struct reprise_text *text, const char *name, uint64_t value)
{
	reprise_text_add(text, "  \"%s\": %" PRIu64 ",\n", name, value);
}

static void string(struct reprise_text *text, const char *name, const char *value)
{
	if (value == NULL)
		return;
	reprise_text_add(text, "  \"%s\": ", name);
	reprise_text_add_string(text, value, strlen(value));
	reprise_text_add(text, ",\n");
}

/* One of several values: what stands between them. */
static const char *comma(bool *any)
{
	const char *between = *any ? ", " : "";

	*any = true;
	return between;
}

/* A value on a line of its own. */
static const char *line(bool *any)
{
	return *comma(any) != '\0' ? ",\n    " : "\n    ";
}

static void numbers(struct reprise_text *text, const char *name, const uint64_t *values, unsigned int count)
{
	bool any = false;

	reprise_text_add(text, "\"%s\": [", name);
	for (unsigned int i = 0; i < count; i++)
		reprise_text_add(text, "%s%" PRIu64, comma(&any), values[i]);
	reprise_text_add(text, "]");
}

static void named(struct reprise_text *text, const char *name, const char *const *names, const uint64_t *values, unsigned int count)
{
	bool any = false;

	reprise_text_add(text, "\"%s\": {", name);
	for (unsigned int i = 0; i < count; i++)
		reprise_text_add(text, "%s\"%s\": %" PRIu64, comma(&any), names[i], values[i]);
	reprise_text_add(text, "}");
}

/* ---- the process ---- */

static const char *mode_name(void)
{
	static const char *const names[] = {"off", "observe", "on"};

	return names[reprise_start()]; /* it has started: there is something to report */
}

/* The tool that was found beside us, and what was made of it. */
static void add_tool(struct reprise_text *text)
{
	const struct reprise_tool *tool = reprise_tool_found();

	if (tool == NULL)
		return;
	string(text, "tool", tool->name);
	string(text, "tool_sign", tool->sign);
	string(text, "aside", reprise_tool_aside() ? tool->why : NULL);
}

/* The words of the command line, up to COMMAND_MOST characters. */
static void add_command(struct reprise_text *text)
{
	static char words[COMMAND_MOST]; /* stacks may be small */
	int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, words, sizeof(words)) : 0;
	bool any = false;

	if (file >= 0)
		close(file);
	reprise_text_add(text, "  \"command\": [");
	for (ssize_t at = 0, word; at < length; at += word + 1) {
		word = (ssize_t)strnlen(words + at, (size_t)(length - at));
		reprise_text_add(text, "%s", comma(&any));
		reprise_text_add_string(text, words + at, (size_t)word);
	}
	reprise_text_add(text, "],\n");
}

static void add_process(struct reprise_text *text)
{
	char host[256] = "";
	struct reprise_launcher launcher;

	gethostname(host, sizeof(host) - 1);
	number(text, "format", FORMAT);
	number(text, "pid", (uint64_t)getpid());
	string(text, "mode", mode_name());
	string(text, "host", host);
	if (reprise_launcher_found(&launcher)) {
		number(text, "rank", launcher.rank);
		string(text, "rank_variable", launcher.variable);
	}
	reprise_text_add(text, "  \"started\": %lld.%03ld,\n", (long long)began.tv_sec, began.tv_nsec / 1000000);
	number(text, "wall_ns", reprise_clock_ns() - began_ns);
	add_tool(text);
	string(text, "stream_ended", reprise_record_cut_short());
	string(text, "stopped", reprise_stopped());
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
	number(text, "put_off", counts->put_off);
	number(text, "evicted", counts->evicted);
	number(text, "siblings", counts->siblings);
	number(text, "absent", counts->absent);
	number(text, "drowsy", counts->drowsy);
	number(text, "unprofitable", counts->lost);
	number(text, "side_exits", reprise_side_exits(counts));
	number(text, "exited_ops", exited);
	for (int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		number(text, counter_names[i], atomic_load(&reprise_counters[i]));
	number(text, "graph_bytes", reprise_ledger_bytes());
	number(text, "graph_bytes_most", reprise_ledger_most());
	number(text, "node_bytes", reprise_ledger_node_bytes());
	number(text, "host_bytes", reprise_store_used());
	number(text, "host_bytes_most", reprise_store_most());
	number(text, "wait_longest_ns", atomic_load(&reprise_wait_longest_ns));
	number(text, "launch_time_ns", totals->gain.all_ns);
	reprise_text_add(text, "  \"saved_ns\": %" PRId64 ",\n", totals->gain.saved_ns);
}

static void add_costs(struct reprise_text *text)
{
	static const char *const names[] = {
#define X(name, ns, words) #name,
		REPRISE_COSTS(X)
#undef X
	};
	uint64_t costs[REPRISE_COST_COUNT];

	for (int i = 0; i < REPRISE_COST_COUNT; i++)
		costs[i] = reprise_cost(i, 1);
	reprise_text_add(text, "  ");
	named(text, "cost_ns", names, costs, REPRISE_COST_COUNT);
}

static const char *const exit_names[] = {
#define X(name, words) #name,
	REPRISE_EXITS(X)
#undef X
};

static const char *const kind_names[] = {
#define X(kind, name) name,
	REPRISE_OP_KINDS(X)
#undef X
};

static void add_reasons(struct reprise_text *text, const struct reprise_totals *totals)
{
	uint64_t unfit[REPRISE_UNFIT_COUNT];

	memcpy(unfit, totals->counts.unfit, sizeof(unfit));
	unfit[REPRISE_UNFIT_NO_LANE] = reprise_process_unlaned();
	reprise_text_add(text, ",\n  ");
	named(text, "exits", exit_names, totals->counts.exits, REPRISE_EXIT_COUNT);
	reprise_text_add(text, ",\n  ");
	named(text, "exited", exit_names, totals->counts.exited, REPRISE_EXIT_COUNT);
	reprise_text_add(text, ",\n  ");
	named(text, "unfit", reprise_unfit_names + 1, unfit + 1, REPRISE_UNFIT_COUNT - 1);
	reprise_text_add(text, ",\n  ");
	named(text, "kinds", kind_names, totals->counts.kinds, REPRISE_OP_KIND_COUNT);
}

static void add_gain(struct reprise_text *text, const struct reprise_gain *gain)
{
	reprise_text_add(text, ",\n  \"gain\": {");
	named(text, "eager_ns", kind_names, gain->kind_ns, REPRISE_OP_KIND_COUNT);
	reprise_text_add(text, ", \"eager_measured\": %s, \"launch_ns\": %" PRIu64 ", \"launch_measured\": %s,\n",
	                 gain->eager_measured ? "true" : "false", gain->launch_ns, gain->launch_measured ? "true" : "false");
	reprise_text_add(text, "    \"replaced_ns\": %" PRIu64 ", \"launches_ns\": %" PRIu64 ", \"patches_ns\": %" PRIu64, gain->replaced_ns,
	                 gain->launches_ns, gain->patches_ns);
	reprise_text_add(text, ", \"exits_ns\": %" PRIu64 ", \"defers_ns\": %" PRIu64 ", \"build_ns\": %" PRIu64 "}", gain->exits_ns, gain->defers_ns,
	                 gain->build_ns);
}

/* ---- rows ---- */

static void add_name(struct reprise_text *text, const char *key, uint16_t row)
{
	uint64_t seen;
	const char *name = row != 0 ? reprise_name_at(row, &seen) : NULL;

	if (name == NULL)
		return;
	reprise_text_add(text, "\"%s\": ", key);
	reprise_text_add_string(text, name, strlen(name));
	reprise_text_add(text, ", ");
}

static void add_account(struct reprise_text *text, const struct reprise_account *account)
{
	reprise_text_add(text, "\"replays\": %" PRIu64 ", \"ops\": %" PRIu64 ", \"eager_ns\": %" PRIu64 ", \"patched\": %" PRIu64 ", \"absent\": %" PRIu64,
	                 account->replays, account->ops, reprise_clock_ticks_to_ns(account->eager_ticks), account->counts.patched,
	                 account->counts.absent);
	reprise_text_add(text, ", \"node_updates\": %" PRIu64 ", \"updates\": %" PRIu64 ", \"toggles\": %" PRIu64 ", \"unprofitable\": %" PRIu64 ", ",
	                 account->node_updates, account->updates, account->toggles, account->counts.losses);
	named(text, "exits", exit_names, account->counts.exits, REPRISE_EXIT_COUNT);
	reprise_text_add(text, ", \"exited_ops\": %" PRIu64 ", \"host_bytes\": %" PRIu64 ", \"graph_bytes\": %" PRIu64 "}", account->counts.exited_ops,
	                 account->host_bytes, account->graph_nodes * reprise_ledger_node_bytes());
}

static void add_traces(struct reprise_text *text, const struct reprise_totals *totals)
{
	const struct reprise_accounts *accounts = &totals->accounts;
	bool any = false;

	reprise_text_add(text, ",\n  \"trace_rows\": [");
	for (unsigned int i = 0; i < accounts->count; i++) {
		const struct reprise_account *account = &accounts->most[i];

		reprise_text_add(text, "%s{\"lane\": %u, \"length\": %u, \"loose\": %u, \"live\": %s, \"made\": %" PRIu64 ", ", line(&any), account->lane,
		                 account->length, account->loose, account->live ? "true" : "false", account->traces);
		add_name(text, "first", account->first);
		add_name(text, "last", account->last);
		add_account(text, account);
	}
	reprise_text_add(text, "],\n  \"trace_rest\": {\"made\": %" PRIu64 ", ", accounts->rest.traces);
	add_account(text, &accounts->rest);
	reprise_text_add(text, ",\n  \"lanes_busy\": %u", totals->lanes_busy);
}

struct lane_rows {
	struct reprise_text *text;
	unsigned int count;
	bool any;
};

static void add_lane(struct reprise_lane *lane, void *context)
{
	struct lane_rows *rows = context;
	struct reprise_lane_counts counts = reprise_lane_counts_now(lane);

	if (counts.ops == 0 || rows->count == LANES_MOST)
		return;
	rows->count++;
	reprise_text_add(rows->text, "%s{\"lane\": %u, \"legacy\": %s, \"blocking\": %s, \"ended\": %s", line(&rows->any), lane->number,
	                 lane->stream == CU_STREAM_LEGACY ? "true" : "false", lane->blocking ? "true" : "false", lane->retired ? "true" : "false");
	reprise_text_add(rows->text, ", \"ops\": %" PRIu64 ", \"replayed\": %" PRIu64 ", \"patched\": %" PRIu64 ", \"launches\": %" PRIu64, counts.ops,
	                 counts.replayed, counts.patched, counts.launches);
	reprise_text_add(rows->text, ", \"traces\": %" PRIu64 ", \"side_exits\": %" PRIu64 ", \"drowsy\": %" PRIu64 "}", counts.traces,
	                 reprise_side_exits(&counts), counts.drowsy);
}

static void add_lanes(struct reprise_text *text)
{
	struct lane_rows rows = {text, 0, false};

	reprise_text_add(text, ",\n  \"lane_rows\": [");
	reprise_lanes_each(add_lane, &rows);
	reprise_text_add(text, "]");
}

static void add_kernels(struct reprise_text *text, const uint64_t *by_name)
{
	bool any = false;
	uint64_t seen;

	reprise_text_add(text, ",\n  \"kernels\": [");
	for (uint16_t row = 1; row < REPRISE_NAMES_MOST && reprise_name_at(row, &seen) != NULL; row++) {
		if (seen + by_name[row] == 0)
			continue;
		reprise_text_add(text, "%s{", line(&any));
		add_name(text, "name", row);
		reprise_text_add(text, "\"watched\": %" PRIu64 ", \"replayed\": %" PRIu64 "}", seen, by_name[row]);
	}
	reprise_text_add(text, "]");
}

static void add_gpu(struct reprise_text *text)
{
	const struct reprise_gpu *gpu = reprise_gpu_read();
	bool any = false;

	if (gpu == NULL)
		return;
	reprise_text_add(text, ",\n  \"gpu\": {\"kernels\": %" PRIu64 ", \"busy_ns\": %" PRIu64 ", \"span_ns\": %" PRIu64 ", \"dropped\": %" PRIu64
	                 ", \"rows\": [", gpu->kernels, gpu->busy_ns, gpu->last_ns - gpu->first_ns, gpu->dropped);
	for (unsigned int i = 0; i < gpu->count; i++) {
		reprise_text_add(text, "%s{\"name\": ", line(&any));
		reprise_text_add_string(text, gpu->rows[i].name, strlen(gpu->rows[i].name));
		reprise_text_add(text, ", \"launches\": %" PRIu64 ", \"ns\": %" PRIu64 "}", gpu->rows[i].launches, gpu->rows[i].ns);
	}
	reprise_text_add(text, "]}");
}

/* ---- over time ---- */

/* What a lane did since it last told the series. */
static void tell_rest(struct reprise_lane *lane, void *unused)
{
	struct reprise_lane_counts counts = reprise_lane_counts_now(lane);

	if (!reprise_series_note(counts.ops - lane->told_ops, counts.replayed - lane->told_replayed))
		return;
	lane->told_ops = counts.ops;
	lane->told_replayed = counts.replayed;
}

static void add_series(struct reprise_text *text)
{
	static struct reprise_series series;

	reprise_lanes_each(tell_rest, NULL);
	if (!reprise_series_read(&series))
		return;
	reprise_text_add(text, ",\n  \"share\": {\"interval_ns\": %" PRIu64 ", ", series.interval_ns);
	numbers(text, "ops", series.ops, series.count);
	reprise_text_add(text, ", ");
	numbers(text, "replayed", series.replayed, series.count);
	reprise_text_add(text, "}");
}

static void add_histogram(struct reprise_text *text, const char *name, enum reprise_histogram histogram)
{
	bool any = false;

	reprise_text_add(text, "\"%s\": [", name);
	for (unsigned int i = 0; i < REPRISE_BUCKETS; i++) {
		uint64_t count = atomic_load(&reprise_histograms[histogram][i]);

		if (count > 0)
			reprise_text_add(text, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", comma(&any), reprise_clock_ticks_to_ns(reprise_bucket_begin(i)),
			                 reprise_clock_ticks_to_ns(reprise_bucket_begin(i + 1)), count);
	}
	reprise_text_add(text, "]");
}

static void add_histograms(struct reprise_text *text)
{
	static const char *const names[] = {
#define X(name, words) #name,
		REPRISE_HISTOGRAMS(X)
#undef X
	};

	reprise_text_add(text, ",\n  \"histograms\": {");
	for (unsigned int i = 0; i < REPRISE_HISTOGRAM_COUNT; i++) {
		reprise_text_add(text, i > 0 ? ",\n    " : "\n    ");
		add_histogram(text, names[i], i);
	}
	reprise_text_add(text, "}");
}

/* ---- places ---- */

static void add_place(struct reprise_text *text, const struct reprise_place *place)
{
	static const char *const kinds[] = {
#define X(name, words) #name,
		REPRISE_PLACE_KINDS(X)
#undef X
	};
	const char *address = place->address;
	Dl_info info;

	reprise_text_add(text, "{\"kind\": \"%s\", \"call\": \"%s\", \"count\": %" PRIu64, kinds[place->kind], place->what, place->count);
	if (address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL) {
		reprise_text_add(text, ", \"library\": ");
		reprise_text_add_string(text, info.dli_fname, strlen(info.dli_fname));
		reprise_text_add(text, ", \"offset\": %zu", (size_t)(address - (const char *)info.dli_fbase));
		if (info.dli_sname != NULL) {
			reprise_text_add(text, ", \"symbol\": ");
			reprise_text_add_string(text, info.dli_sname, strlen(info.dli_sname));
			reprise_text_add(text, ", \"symbol_offset\": %zu", (size_t)(address - (const char *)info.dli_saddr));
		}
	}
	reprise_text_add(text, "}");
}

static void add_places(struct reprise_text *text)
{
	bool any = false;

	reprise_text_add(text, ",\n  \"places\": [");
	for (unsigned int i = 0; i < REPRISE_PLACES_MOST; i++) {
		struct reprise_place place = reprise_place_at(i);

		if (place.count == 0)
			continue;
		reprise_text_add(text, "%s", line(&any));
		add_place(text, &place);
	}
	reprise_text_add(text, "],\n  \"places_left_out\": %" PRIu64, reprise_places_left_out());
}

void reprise_json_write(struct reprise_text *text, const struct reprise_totals *totals)
{
	reprise_text_add(text, "{\n");
	add_process(text);
	add_counts(text, totals);
	add_command(text);
	add_costs(text);
	add_reasons(text, totals);
	add_gain(text, &totals->gain);
	add_traces(text, totals);
	add_lanes(text);
	add_kernels(text, totals->accounts.by_name);
	add_gpu(text);
	add_series(text);
	add_histograms(text);
	add_places(text);
	reprise_text_add(text, "\n}\n");
}
