#include "report.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "../base/hot.h"
#include "../base/keep.h"
#include "../base/launcher.h"
#include "../base/lock.h"
#include "../base/log.h"
#include "../base/options.h"
#include "../base/tools.h"
#include "../driver/driver.h"
#include "../op/name.h"
#include "counters.h"
#include "file.h"
#include "histogram.h"
#include "json.h"
#include "pauses.h"
#include "places.h"
#include "series.h"

_Atomic uint64_t reprise_counters[REPRISE_COUNTER_COUNT];
bool reprise_reporting REPRISE_HOT_DATA;

static struct reprise_lock writing; /* a report, at the end or for who asks */
static pid_t began_in; /* a child that made no launch of its own has nothing to say */

void reprise_report_begin(void)
{
	began_in = getpid();
	reprise_reporting = reprise_option_text(REPRISE_OPTION_REPORT)[0] != '\0';
	reprise_report_file_begin(reprise_option_text(REPRISE_OPTION_REPORT));
	reprise_json_begin();
	reprise_launcher_look();
	reprise_series_begin();
}

void reprise_report_forget(void)
{
	for (int i = 0; i < REPRISE_COUNTER_COUNT; i++)
		atomic_store(&reprise_counters[i], 0);
	atomic_store(&reprise_wait_longest_ns, 0);
	atomic_store(&writing.word, 0);
	reprise_json_begin();
	reprise_histograms_forget();
	reprise_pauses_forget();
	reprise_series_begin();
	reprise_places_forget();
	reprise_names_reset();
	reprise_accounts_reset();
}

static void say_one_line(const struct reprise_totals *totals)
{
	const struct reprise_tool *tool = reprise_tool_found();

	if (reprise_tool_aside()) {
		reprise_say("stood aside for %s (%s)", tool->name, tool->sign);
		return;
	}
	reprise_say("%.1f %% of %" PRIu64 " launches %s, about %.3g s saved of %.3g s launch time; %" PRIu64 " traces, %" PRIu64 " side exits",
	            100.0 * (double)totals->counts.replayed / (double)(totals->ops > 0 ? totals->ops : 1), totals->ops,
	            reprise_dry ? "would be replayed" : "replayed", (double)totals->gain.saved_ns / 1e9, (double)totals->gain.all_ns / 1e9,
	            totals->counts.traces, reprise_side_exits(&totals->counts));
}

static bool write_json(int file, const struct reprise_totals *totals)
{
	struct reprise_text text = {.file = file};

	reprise_json_write(&text, totals);
	return reprise_text_end(&text);
}

static bool write_file(const char *where, const struct reprise_totals *totals)
{
	int file = reprise_report_file_open(where);
	bool whole;

	if (file < 0)
		return false;
	whole = write_json(file, totals);
	close(file);
	return whole;
}

/* That a process made CUDA calls and launched nothing is worth telling; not if its calls went elsewhere, nor of children that made none. */
static bool is_worth_telling(const struct reprise_totals *totals)
{
	return totals->ops > 0 || (getpid() == began_in && (reprise_tool_aside() || reprise_driver_loaded()));
}

static void report(const char *where, const struct reprise_totals *totals)
{
	if (!is_worth_telling(totals))
		return;
	if (strcmp(where, "stderr") == 0)
		say_one_line(totals);
	else if (!write_file(where, totals))
		reprise_log(REPRISE_LOG_WARNING, "the report could not be written to %s", where);
}

void reprise_report_at_exit(void)
{
	const char *where = reprise_option_text(REPRISE_OPTION_REPORT);

	if (where[0] == '\0')
		return;

	REPRISE_KEEP_ERRNO;
	REPRISE_KEEP_FLOAT;

	reprise_lock_take(&writing);
	report(where, reprise_totals_take());
	reprise_lock_give(&writing);
}

bool reprise_report_now(int file)
{
	bool whole;

	reprise_lock_take(&writing);
	whole = write_json(file, reprise_totals_take());
	reprise_lock_give(&writing);
	return whole;
}

/* Not a constructor, and no CUDA: invariant 10. Options are all empty if Reprise never started. */
__attribute__((destructor)) static void at_end(void)
{
	reprise_report_at_exit();
}
