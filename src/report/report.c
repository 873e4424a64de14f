#include "report.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "../base/lock.h"
#include "../base/log.h"
#include "../base/options.h"
#include "../base/start.h"
#include "../base/store.h"
#include "../base/tools.h"
#include "../graph/cost.h"
#include "../graph/ledger.h"
#include "../lane/process.h"
#include "../lane/registry.h"
#include "../lane/verify.h"
#include "../record/record.h"
#include "counters.h"
#include "file.h"

_Atomic uint64_t reprise_counters[REPRISE_COUNTER_COUNT];

static pid_t began_in; /* a child that only inherits our standing aside has nothing to say */

struct text {
	char bytes[8192];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list arguments;
	size_t room = sizeof(text->bytes) - text->length;
	int added;

	va_start(arguments, format);
	added = vsnprintf(text->bytes + text->length, room, format, arguments);
	va_end(arguments);
	text->length += added < 0 ? 0 : (size_t)added < room ? (size_t)added : room - 1;
}

/* Without the lanes' locks: at exit nobody should have to wait for one, and a count that is one short harms nobody. */
static void sum_lane(struct reprise_lane *lane, void *context)
{
	struct reprise_lane_counts *sum = context;
	const uint64_t *from = (const uint64_t *)&lane->counts;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
	/* Ops that a lane is left alone for are counted beforehand. */
	sum->ops -= atomic_load(&lane->drowsy_ops);
	sum->drowsy -= atomic_load(&lane->drowsy_ops);
}

struct reprise_lane_counts reprise_report_sum(void)
{
	struct reprise_lane_counts sum = {0};

	reprise_lanes_each(sum_lane, &sum);
	return sum;
}

uint64_t reprise_report_side_exits(const struct reprise_lane_counts *sum)
{
	uint64_t all = 0;

	for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
		all += sum->exits[i];
	return all;
}

static unsigned long long counted(enum reprise_counter counter)
{
	return (unsigned long long)atomic_load(&reprise_counters[counter]);
}

static double milliseconds(enum reprise_counter counter)
{
	return (double)counted(counter) / 1e6;
}

static const char *mode_name(void)
{
	static const char *const names[] = {"off", "observe", "on", "verify"};

	return names[reprise_start()]; /* it has started: there is something to report */
}

/* The tool that was found beside us, and what was made of it. */
static void add_tool(struct text *text)
{
	const struct reprise_tool *tool = reprise_tool_found();

	if (tool == NULL)
		return;
	add(text, "  \"tool\": \"%s\",\n  \"tool_sign\": \"%s\",\n", tool->name, tool->sign);
	if (reprise_tool_aside())
		add(text, "  \"aside\": \"%s\",\n", tool->why);
}

static void write_json(struct text *text, const struct reprise_lane_counts *sum)
{
	static const char *const exit_names[] = {
#define X(name, words) #name,
		REPRISE_EXITS(X)
#undef X
	};
	static const char *const unfit_names[] = {
#define X(name, words) words,
		REPRISE_UNFIT_REASONS(X)
#undef X
	};
	static const char *const cost_names[] = {
#define X(name, ns, words) #name,
		REPRISE_COSTS(X)
#undef X
	};
	static const char *const counter_names[] = {
#define X(name, words) #name,
		REPRISE_COUNTERS(X)
#undef X
	};

	add(text, "{\n  \"pid\": %d,\n  \"mode\": \"%s\",\n", (int)getpid(), mode_name());
	add_tool(text);
	add(text, "  \"ops\": %llu,\n  \"replayed\": %llu,\n  \"patched\": %llu,\n  \"launches\": %llu,\n",
	    (unsigned long long)sum->ops + reprise_process_unlaned(), (unsigned long long)sum->replayed,
	    (unsigned long long)sum->patched, (unsigned long long)sum->launches);
	add(text, "  \"traces\": %llu,\n  \"put_off\": %llu,\n  \"evicted\": %llu,\n  \"siblings\": %llu,\n", (unsigned long long)sum->traces,
	    (unsigned long long)sum->put_off, (unsigned long long)sum->evicted, (unsigned long long)sum->siblings);
	add(text, "  \"absent\": %llu,\n  \"drowsy\": %llu,\n  \"unprofitable\": %llu,\n", (unsigned long long)sum->absent,
	    (unsigned long long)sum->drowsy, (unsigned long long)sum->lost);
	if (reprise_verify_difference()[0] != '\0')
		add(text, "  \"difference\": \"%s\",\n", reprise_verify_difference());
	if (reprise_record_cut_short() != NULL)
		add(text, "  \"stream_ended\": \"%s\",\n", reprise_record_cut_short());
	add(text, "  \"side_exits\": %llu,\n  \"exited_ops\": %llu,\n", (unsigned long long)reprise_report_side_exits(sum),
	    (unsigned long long)sum->exited_ops);
	for (int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		add(text, "  \"%s\": %llu,\n", counter_names[i], (unsigned long long)atomic_load(&reprise_counters[i]));
	add(text, "  \"graph_bytes\": %llu,\n  \"graph_bytes_most\": %llu,\n  \"node_bytes\": %llu,\n", (unsigned long long)reprise_ledger_bytes(),
	    (unsigned long long)reprise_ledger_most(), (unsigned long long)reprise_ledger_node_bytes());
	add(text, "  \"host_bytes\": %llu,\n  \"host_bytes_most\": %llu,\n  \"wait_longest_ns\": %llu,\n", (unsigned long long)reprise_store_used(),
	    (unsigned long long)reprise_store_most(), (unsigned long long)atomic_load(&reprise_wait_longest_ns));
	add(text, "  \"cost_ns\": {");
	for (int i = 0; i < REPRISE_COST_COUNT; i++)
		add(text, "%s\"%s\": %llu", i > 0 ? ", " : "", cost_names[i], (unsigned long long)reprise_cost(i, 1));
	add(text, "},\n  \"exits\": {");
	for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
		add(text, "%s\"%s\": %llu", i > 0 ? ", " : "", exit_names[i], (unsigned long long)sum->exits[i]);
	add(text, "},\n  \"unfit\": {");
	for (int i = 1; i < REPRISE_UNFIT_COUNT; i++)
		add(text, "%s\"%s\": %llu", i > 1 ? ", " : "", unfit_names[i],
		    i == REPRISE_UNFIT_NO_LANE ? (unsigned long long)reprise_process_unlaned() : (unsigned long long)sum->unfit[i]);
	if (reprise_stopped() != NULL)
		add(text, "},\n  \"stopped\": \"%s\"\n}\n", reprise_stopped());
	else
		add(text, "}\n}\n");
}

void reprise_report_begin(void)
{
	began_in = getpid();
	reprise_report_file_begin();
}

void reprise_report_forget(void)
{
	for (int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		atomic_store(&reprise_counters[i], 0);
	atomic_store(&reprise_wait_longest_ns, 0);
}

void reprise_report_at_exit(void)
{
	static struct text text;
	struct reprise_lane_counts sum;
	const char *where = reprise_option_text(REPRISE_OPTION_REPORT);

	if (where[0] == '\0')
		return;
	sum = reprise_report_sum();
	if (sum.ops + reprise_process_unlaned() == 0 && !(reprise_tool_aside() && getpid() == began_in))
		return;
	if (strcmp(where, "stderr") == 0 && reprise_tool_aside()) {
		reprise_say("stood aside for %s (%s)", reprise_tool_found()->name, reprise_tool_found()->sign);
		return;
	}
	if (strcmp(where, "stderr") == 0) {
		reprise_say("%llu ops, %.1f %% %s, %llu traces, %llu nodes set (%.1f ms), %llu graphs updated (%.1f ms), %llu nodes switched (%.1f ms), "
		            "%llu graphs built anew, %llu side exits",
		            (unsigned long long)sum.ops, 100.0 * (double)sum.replayed / (double)(sum.ops > 0 ? sum.ops : 1),
		            reprise_dry ? "would be replayed" : "replayed", (unsigned long long)sum.traces, counted(REPRISE_COUNT_node_updates),
		            milliseconds(REPRISE_COUNT_node_update_ns), counted(REPRISE_COUNT_updates), milliseconds(REPRISE_COUNT_update_ns),
		            counted(REPRISE_COUNT_toggles), milliseconds(REPRISE_COUNT_toggle_ns), counted(REPRISE_COUNT_rebuilds),
		            (unsigned long long)reprise_report_side_exits(&sum));
		return;
	}
	write_json(&text, &sum);
	if (!reprise_report_file_write(where, text.bytes, text.length))
		reprise_log(REPRISE_LOG_WARNING, "the report could not be written to %s", where);
}

const char *reprise_report_now(void)
{
	static struct text text;
	struct reprise_lane_counts sum = reprise_report_sum();

	text.length = 0;
	write_json(&text, &sum);
	return text.bytes;
}

/* Not a constructor, and no CUDA: invariant 10. Options are all empty if Reprise never started. */
__attribute__((destructor)) static void at_end(void)
{
	reprise_report_at_exit();
}
