/* The lists and tables of the JSON report. Each function adds a member after another one. */
#pragma once

#include "report/text.h"
#include "report/totals.h"

/* "trace_rows" and "trace_rest"; "lane_rows"; "kernels": by name, with their replayed launches. */
void reprise_rows_add_traces(struct reprise_text *text, const struct reprise_totals *totals);
void reprise_rows_add_lanes(struct reprise_text *text);
void reprise_rows_add_kernels(struct reprise_text *text, const uint64_t *by_name);

/* "gpu", "share", "histograms". The first two only if there is something to tell. */
void reprise_rows_add_gpu(struct reprise_text *text);
void reprise_rows_add_series(struct reprise_text *text);
void reprise_rows_add_histograms(struct reprise_text *text);

/* "call_sites". With `named` the callers are looked up, which takes the loader's lock and reads
 * their files. Without, all call sites of an entry point are one row. */
void reprise_rows_add_call_sites(struct reprise_text *text, bool named);
