#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/keep.h"
#include "base/launcher.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text.h"
#include "base/tools.h"
#include "driver/driver.h"
#include "lane/turns.h"
#include "op/name.h"
#include "stats/counters.h"
#include "base/output.h"
#include "stats/histogram.h"
#include "report/inner.h"
#include "report/metrics.h"
#include "stats/machine.h"
#include "stats/pauses.h"
#include "stats/series.h"
#include "stats/sites.h"

/* Held while a report is written, at any of its three moments. Protects what follows. */
static struct reprise_lock writing;
static uint64_t written; /* state_now() of the report in the file; 0: none */
static bool ended;       /* the last report is written */
static bool failure_told;
static bool metrics_ended, metrics_told; /* likewise: the metrics, and why there are none */
static pid_t began_in;                   /* a child that launches nothing writes no report */

void reprise_report_begin(void)
{
	began_in = getpid();
	reprise_reporting = reprise_option_text(REPRISE_OPTION_REPORT)[0] != '\0';
	reprise_names_wanted = reprise_reporting ||
	                       reprise_option_text(REPRISE_OPTION_TIMELINE)[0] != '\0' ||
	                       reprise_tool_listener() != NULL;
	reprise_output_begin(reprise_option_text(REPRISE_OPTION_REPORT));
	reprise_metrics_begin();
	reprise_json_begin();
	reprise_machine_note_driver();
	reprise_launcher_look();
	reprise_series_begin();
}

void reprise_report_forget(void)
{
	reprise_counters_reset();
	atomic_store(&reprise_wait_longest_ns, 0);
	atomic_store(&writing.word, 0);
	written = 0;
	ended = failure_told = metrics_ended = metrics_told = false;
	reprise_metrics_forget();
	reprise_output_forget();
	reprise_json_begin();
	reprise_histograms_forget();
	reprise_pauses_forget();
	reprise_series_begin();
	reprise_call_sites_forget();
	reprise_names_reset();
	reprise_accounts_reset();
}

/* ", 1.31 x faster, measured in 42 turns, 1.27 to 1.35"; ", gain not measured"; in observe what
 * a model expects, ", which would save about 430 ms of 503 ms launch time"; "" if nothing was
 * replayed. */
static void write_gain(const struct reprise_totals *totals, char *words, size_t size)
{
	char expected[REPRISE_EXPECTED_MOST];
	struct reprise_turns_told turns = reprise_turns_read();

	words[0] = '\0';
	if (turns.on && totals->ops > 0) {
		snprintf(words, size, ", ");
		reprise_report_turns(&turns, words + 2, size - 2);
	} else if (totals->counts.replayed > 0 && reprise_observing) {
		snprintf(words, size, ", which would %s",
		         reprise_amount_expected(totals->gain.saved_ns, totals->gain.all_ns, expected));
	} else if (totals->counts.replayed > 0) {
		snprintf(words, size, ", gain not measured");
	}
}

static void say_one_line(const struct reprise_totals *totals)
{
	const struct reprise_tool *tool = reprise_tool_found();
	uint64_t paused = reprise_counted(REPRISE_COUNT_paused_ops);
	uint64_t in_ranges = reprise_counted(REPRISE_COUNT_nvtx_ops);
	char gain[160], ops[REPRISE_AMOUNT_MOST], count[REPRISE_AMOUNT_MOST];
	char sequences[REPRISE_AMOUNT_MOST];
	char more[2 * REPRISE_AMOUNT_MOST + 128] = "";
	size_t length = 0;

	if (reprise_tool_aside()) {
		reprise_say("stood aside for %s (%s)", tool->name, tool->sign);
		return;
	}
	if (paused > 0)
		length = (size_t)snprintf(more, sizeof(more), "; %s more came while Reprise was off",
		                          reprise_amount_count(paused, count));
	if (in_ranges > 0)
		snprintf(more + length, sizeof(more) - length,
		         "; %s more came in NVTX ranges that are eager",
		         reprise_amount_count(in_ranges, count));
	if (totals->ops == 0) {
		reprise_say("no CUDA launches were seen%s", more);
		return;
	}
	write_gain(totals, gain, sizeof(gain));
	reprise_say("%.1f %% of %s launches %s%s; %s sequence%s%s",
	            100.0 * (double)totals->counts.replayed / (double)totals->ops,
	            reprise_amount_count(totals->ops, ops),
	            reprise_observing ? "would be replayed" : "replayed", gain,
	            reprise_amount_count(totals->counts.traces, sequences),
	            totals->counts.traces == 1 ? "" : "s", more);
}

/* The input of write_json(). */
struct state {
	const struct reprise_totals *totals;
	enum reprise_json_moment moment;
};

static int write_json(int file, const void *what)
{
	static struct reprise_text text; /* too large for small stacks */
	const struct state *state = what;

	text.file = file;
	text.error = 0;
	text.length = 0;
	reprise_json_write(&text, state->totals, state->moment);
	return reprise_text_end(&text);
}

/* Told once: the next report fails for the same reason. If the command started the process, the
 * command itself sees a full disk or a limit on files, and tells of it once for all processes.
 * Under the lock, or after the last report. */
void reprise_report_tell_error(int error)
{
	const char *pattern = reprise_option_text(REPRISE_OPTION_REPORT);
	char name[REPRISE_OPTION_TEXT_MOST], room[128];

	if (!failure_told && !reprise_launcher_tells(error))
		reprise_log(REPRISE_LOG_WARNING, "cannot write report to %s: %s",
		            reprise_expand(pattern, getpid(), name, sizeof(name)) ? name : pattern,
		            reprise_output_words(error, room, sizeof(room)));
	failure_told = true;
}

/* True if the command started this process, and it found REPRISE=off all the same. */
static bool is_off_by_program(void)
{
	return reprise_mode == REPRISE_MODE_OFF && reprise_launcher_mark()[0] != '\0';
}

/* True if there were ops. A process that made CUDA calls and launched nothing is worth telling too,
 * but not a forked child. */
static bool is_worth_telling(const struct reprise_totals *totals)
{
	return totals->ops > 0 ||
	       (getpid() == began_in &&
	        (reprise_tool_aside() || is_off_by_program() || reprise_driver_loaded()));
}

static int report(const char *where)
{
	struct state state = {reprise_totals_take(), REPRISE_JSON_AT_END};

	ended = true;
	if (!is_worth_telling(state.totals))
		return 0;
	if (strcmp(where, "stderr") != 0)
		return reprise_output_write(write_json, &state, NULL);
	say_one_line(state.totals);
	return 0;
}

int reprise_report_write_last(void)
{
	int error;

	reprise_lock_take(&writing);
	error = report(reprise_option_text(REPRISE_OPTION_REPORT));
	reprise_lock_give(&writing);
	return error;
}

/* A number that changes as soon as anything is counted. */
static uint64_t state_now(void)
{
	struct reprise_lane_counts counts = reprise_counts_sum();
	uint64_t others[REPRISE_COUNTER_COUNT];

	for (int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		others[i] = reprise_counted(i);
	return reprise_hash_bytes(reprise_hash_bytes(0, &counts, sizeof(counts)), others,
	                          sizeof(others));
}

/* Under the lock. Returns the error, 0 for none. */
static int take_snapshot(const struct reprise_totals *totals, int *kept)
{
	struct state state = {totals, REPRISE_JSON_SNAPSHOT};

	return ended || !reprise_report_has_file() ? 0 : reprise_output_write(write_json, &state, kept);
}

/* True if the error is nobody's to hear, or was told, or can be told now. */
static bool can_tell(int error, bool told)
{
	return error == 0 || error == REPRISE_OUTPUT_LOCKED_IN || told || reprise_log_is_heard();
}

static bool write_snapshot(const struct reprise_totals *totals, int *kept)
{
	int error = take_snapshot(totals, kept);
	bool told = can_tell(error, failure_told);

	if (error != 0)
		written = 0;
	if (error != 0 && error != REPRISE_OUTPUT_LOCKED_IN && told)
		reprise_report_tell_error(error);
	return told;
}

/* Told once, as above. */
static bool write_metrics(const struct reprise_totals *totals)
{
	char room[128];
	int error = metrics_ended || !reprise_metrics_wanted() ? 0 : reprise_metrics_write(totals);
	bool told = can_tell(error, metrics_told);

	if (error != 0)
		written = 0; /* once more, though nothing changes */
	if (error == 0 || error == REPRISE_OUTPUT_LOCKED_IN || !told)
		return told;
	if (!metrics_told)
		reprise_log(REPRISE_LOG_WARNING, "cannot write metrics to %s: %s",
		            reprise_option_text(REPRISE_OPTION_METRICS),
		            reprise_output_words(error, room, sizeof(room)));
	metrics_told = true;
	return true;
}

bool reprise_report_snapshot(int *kept)
{
	const struct reprise_totals *totals;
	bool told = true;
	uint64_t now;

	reprise_lock_take(&writing);
	now = state_now();
	if (now != written) {
		totals = reprise_totals_take();
		written = now;
		if (totals->ops > 0) {
			told = write_snapshot(totals, kept);
			told = write_metrics(totals) && told;
		}
	}
	reprise_lock_give(&writing);
	return told;
}

bool reprise_report_has_file(void)
{
	const char *where = reprise_option_text(REPRISE_OPTION_REPORT);

	return where[0] != '\0' && strcmp(where, "stderr") != 0;
}

void reprise_report_end_metrics(void)
{
	if (!reprise_metrics_wanted())
		return;
	reprise_lock_take(&writing);
	metrics_ended = true;
	reprise_metrics_end();
	reprise_lock_give(&writing);
}

bool reprise_report_now(int file)
{
	struct state state;
	int error;

	reprise_lock_take(&writing);
	state = (struct state){reprise_totals_take(), REPRISE_JSON_ASKED};
	error = write_json(file, &state);
	reprise_lock_give(&writing);
	return error == 0;
}
