/* All lists are bounded: docs/report.md has the limits. */
#include "report/inner.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "graph/estimate.h"
#include "lane/registry.h"
#include "op/name.h"
#include "report/caller.h"
#include "stats/histogram.h"
#include "stats/kernels.h"
#include "stats/series.h"
#include "stats/sites.h"

#define LANES_MOST 64
#define CALL_SITES_MOST 128

/* ---- traces, lanes, kernels ---- */

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
	reprise_text_add(text,
	                 "\"replays\": %" PRIu64 ", \"ops\": %" PRIu64 ", \"eager_ns\": %" PRIu64
	                 ", \"patched\": %" PRIu64 ", \"node_updates\": %" PRIu64
	                 ", \"updates\": %" PRIu64 ", \"unprofitable\": %" PRIu64 ", ",
	                 account->replays, account->ops,
	                 reprise_clock_ticks_to_ns(account->eager_ticks), account->counts.patched,
	                 account->node_updates, account->updates, account->counts.losses);
	reprise_text_add_named(text, "exits", reprise_exit_names, account->counts.exits,
	                       REPRISE_EXIT_COUNT);
	reprise_text_add(text,
	                 ", \"exited_ops\": %" PRIu64 ", \"host_bytes\": %" PRIu64
	                 ", \"graph_bytes\": %" PRIu64 "}",
	                 account->counts.exited_ops, account->host_bytes,
	                 account->graph_nodes * reprise_estimate_node_bytes());
}

static void add_dimensions(struct reprise_text *text, const char *key, const unsigned int size[3])
{
	reprise_text_add(text, ", \"%s\": [%u, %u, %u]", key, size[0], size[1], size[2]);
}

static void add_sequence_row(struct reprise_text *text, const struct reprise_sequence_row *row)
{
	reprise_text_add(text, "{\"kind\": \"%s\", \"times\": %u, \"any_value\": %s",
	                 reprise_op_kind_names[row->kind], row->times,
	                 row->any_value ? "true" : "false");
	if (row->kind == REPRISE_OP_KERNEL) {
		if (row->name != 0)
			reprise_text_add(text, ", \"kernel\": %u", row->name);
		add_dimensions(text, "grid", row->kernel.grid);
		add_dimensions(text, "block", row->kernel.block);
	} else if (row->bytes != 0) {
		reprise_text_add(text, ", \"bytes\": %" PRIu64, row->bytes);
	}
	reprise_text_add(text, "}");
}

static void add_sequence(struct reprise_text *text, const struct reprise_sequence *sequence)
{
	bool any = false;

	reprise_text_add(text, "\"sequence\": [");
	for (unsigned int i = 0; i < sequence->count; i++) {
		reprise_text_add(text, "%s", reprise_text_comma(&any));
		add_sequence_row(text, &sequence->rows[i]);
	}
	reprise_text_add(text, "], \"sequence_left_out\": %u, ", sequence->left_out);
}

void reprise_rows_add_traces(struct reprise_text *text, const struct reprise_totals *totals)
{
	const struct reprise_accounts *accounts = &totals->accounts;
	bool any = false;

	reprise_text_add(text, ",\n  \"trace_rows\": [");
	for (unsigned int i = 0; i < accounts->count; i++) {
		const struct reprise_account *account = &accounts->most[i];

		reprise_text_add(
			text,
			"%s{\"lane\": %u, \"length\": %u, \"any_value\": %u, \"live\": %s, \"made\": %" PRIu64
			", ",
			reprise_text_line(&any), account->lane, account->length, account->any_value,
			account->live ? "true" : "false", account->traces);
		add_name(text, "first", account->first);
		add_name(text, "last", account->last);
		add_sequence(text, &accounts->sequences[i]);
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
	reprise_text_add(rows->text, "%s{\"lane\": %u, \"legacy\": %s, \"blocking\": %s, \"ended\": %s",
	                 reprise_text_line(&rows->any), lane->number,
	                 lane->stream == CU_STREAM_LEGACY ? "true" : "false",
	                 lane->blocking ? "true" : "false", lane->retired ? "true" : "false");
	reprise_text_add(rows->text,
	                 ", \"ops\": %" PRIu64 ", \"replayed\": %" PRIu64 ", \"patched\": %" PRIu64
	                 ", \"launches\": %" PRIu64,
	                 counts.ops, counts.replayed, counts.patched, counts.launches);
	reprise_text_add(rows->text,
	                 ", \"traces\": %" PRIu64 ", \"side_exits\": %" PRIu64
	                 ", \"backed_off\": %" PRIu64 "}",
	                 counts.traces, reprise_side_exits(&counts), counts.backed_off);
}

void reprise_rows_add_lanes(struct reprise_text *text)
{
	struct lane_rows rows = {text, 0, false};

	reprise_text_add(text, ",\n  \"lane_rows\": [");
	reprise_lanes_each(add_lane, &rows);
	reprise_text_add(text, "]");
}

void reprise_rows_add_kernels(struct reprise_text *text, const uint64_t *by_name)
{
	bool any = false;
	uint64_t seen;

	reprise_text_add(text, ",\n  \"kernels\": [");
	for (uint16_t row = 1; row < REPRISE_NAMES_MOST && reprise_name_at(row, &seen) != NULL; row++) {
		if (seen + by_name[row] == 0)
			continue;
		reprise_text_add(text, "%s{", reprise_text_line(&any));
		add_name(text, "name", row);
		reprise_text_add(text, "\"number\": %u, ", row);
		reprise_text_add(text, "\"watched\": %" PRIu64 ", \"replayed\": %" PRIu64 "}", seen,
		                 by_name[row]);
	}
	reprise_text_add(text, "]");
}

void reprise_rows_add_gpu(struct reprise_text *text)
{
	struct reprise_kernels kernels;
	bool any = false;

	if (!reprise_kernels_read(&kernels))
		return;
	reprise_text_add(text,
	                 ",\n  \"gpu\": {\"kernels\": %" PRIu64 ", \"busy_ns\": %" PRIu64
	                 ", \"span_ns\": %" PRIu64 ", \"dropped\": %" PRIu64 ", \"rows\": [",
	                 kernels.count, kernels.busy_ns, kernels.last_ns - kernels.first_ns,
	                 reprise_gpu_dropped());
	for (unsigned int i = 0; i < kernels.names; i++) {
		reprise_text_add(text, "%s{\"name\": ", reprise_text_line(&any));
		reprise_text_add_string(text, kernels.rows[i].name, strlen(kernels.rows[i].name));
		reprise_text_add(text, ", \"launches\": %" PRIu64 ", \"ns\": %" PRIu64 "}",
		                 kernels.rows[i].launches, kernels.rows[i].ns);
	}
	reprise_text_add(text, "]}");
}

/* ---- over time ---- */

/* Adds what the lane did since it last told the series. Skips a lane whose lock is taken. */
static void tell_rest(struct reprise_lane *lane, void *unused)
{
	if (!reprise_lock_try(&lane->lock))
		return;
	reprise_lane_tell_series(lane);
	reprise_lock_give(&lane->lock);
}

void reprise_rows_add_series(struct reprise_text *text)
{
	static struct reprise_series series;

	reprise_lanes_each(tell_rest, NULL);
	if (!reprise_series_read(&series))
		return;
	reprise_text_add(text, ",\n  \"share\": {\"interval_ns\": %" PRIu64 ", ", series.interval_ns);
	reprise_text_add_list(text, "ops", series.ops, series.count);
	reprise_text_add(text, ", ");
	reprise_text_add_list(text, "replayed", series.replayed, series.count);
	reprise_text_add(text, "}");
}

static void add_histogram(struct reprise_text *text, const char *name,
                          enum reprise_histogram histogram)
{
	bool any = false;

	reprise_text_add(text, "\"%s\": [", name);
	for (unsigned int i = 0; i < REPRISE_BUCKETS; i++) {
		uint64_t count = atomic_load(&reprise_histograms[histogram][i]);

		if (count > 0)
			reprise_text_add(text, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]",
			                 reprise_text_comma(&any),
			                 reprise_clock_ticks_to_ns(reprise_bucket_begin(i)),
			                 reprise_clock_ticks_to_ns(reprise_bucket_begin(i + 1)), count);
	}
	reprise_text_add(text, "]");
}

void reprise_rows_add_histograms(struct reprise_text *text)
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

/* ---- call sites ---- */

struct call_site_row {
	enum reprise_call_site_kind kind;
	const char *what;
	struct reprise_caller caller;
	uint64_t count;
};

/* The row of the call site; with `named` false, the row of the call from anywhere. NULL if there is
 * no room. */
static struct call_site_row *call_site_row(struct call_site_row *rows, unsigned int *count,
                                           const struct reprise_call_site *site, bool named)
{
	struct reprise_caller caller = {0};
	unsigned int i = 0;

	if (named)
		reprise_caller_find(site, &caller);
	while (i < *count && (rows[i].what != site->what || rows[i].caller.address != caller.address))
		i++;
	if (i == CALL_SITES_MOST)
		return NULL;
	if (i == *count) {
		rows[i] = (struct call_site_row){site->kind, site->what, caller, 0};
		(*count)++;
	}
	return &rows[i];
}

static void add_symbol(struct reprise_text *text, const struct reprise_symbol *symbol)
{
	reprise_text_add(text, ", \"library\": ");
	reprise_text_add_string(text, symbol->library, strlen(symbol->library));
	reprise_text_add(text, ", \"offset\": %zu", symbol->offset);
	if (symbol->name[0] == '\0')
		return;
	reprise_text_add(text, ", \"symbol\": ");
	reprise_text_add_string(text, symbol->name, strlen(symbol->name));
	reprise_text_add(text, ", \"symbol_offset\": %zu", symbol->into);
}

static void add_call_site(struct reprise_text *text, const struct call_site_row *row)
{
	static const char *const kinds[] = {
#define X(name, words) #name,
		REPRISE_CALL_SITE_KINDS(X)
#undef X
	};
	static struct reprise_symbol symbol;

	reprise_text_add(text, "{\"kind\": \"%s\", \"call\": \"%s\", \"count\": %" PRIu64,
	                 kinds[row->kind], row->what, row->count);
	if (row->caller.runtime[0] != '\0')
		reprise_text_add(text, ", \"runtime\": \"%s\"", row->caller.runtime);
	if (row->caller.address != NULL && reprise_symbol_find(row->caller.address, &symbol))
		add_symbol(text, &symbol);
	reprise_text_add(text, "}");
}

void reprise_rows_add_call_sites(struct reprise_text *text, bool named)
{
	static struct call_site_row rows[CALL_SITES_MOST];
	uint64_t left_out = reprise_call_sites_left_out();
	unsigned int count = 0;
	bool any = false;

	for (unsigned int i = 0; i < REPRISE_CALL_SITES_MOST; i++) {
		struct reprise_call_site site = reprise_call_site_at(i);
		struct call_site_row *row =
			site.count > 0 ? call_site_row(rows, &count, &site, named) : NULL;

		*(row != NULL ? &row->count : &left_out) += site.count;
	}
	reprise_text_add(text, ",\n  \"call_sites\": [");
	for (unsigned int i = 0; i < count; i++) {
		reprise_text_add(text, "%s", reprise_text_line(&any));
		add_call_site(text, &rows[i]);
	}
	reprise_text_add(text, "],\n  \"call_sites_left_out\": %" PRIu64, left_out);
}
