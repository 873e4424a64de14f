/* The lists and tables of a report's JSON, each as a member that follows another. */
#pragma once

#include "report/text.h"
#include "report/totals.h"

/* "trace_rows" and "trace_rest"; "lane_rows"; "kernels" by name, with their replayed launches. */
void reprise_rows_add_traces(struct reprise_text *text, const struct reprise_totals *totals);
void reprise_rows_add_lanes(struct reprise_text *text);
void reprise_rows_add_kernels(struct reprise_text *text, const uint64_t *by_name);

/* "gpu", "share" and "histograms"; the first two only if there is anything to tell. */
void reprise_rows_add_gpu(struct reprise_text *text);
void reprise_rows_add_series(struct reprise_text *text);
void reprise_rows_add_histograms(struct reprise_text *text);

/*
 * "places". named: who the callers are is looked up, which takes the loader's lock and reads their
 * files; else each call is one row, wherever it comes from.
 */
void reprise_rows_add_call_sites(struct reprise_text *text, bool named);
