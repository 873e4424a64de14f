/* The report as a JSON object; docs/report.schema.json describes it. For the files of this room. */
#pragma once

#include "lane/turns.h"
#include "report/text.h"
#include "report/totals.h"

/* At the end of the process; at a request; once a second. */
enum reprise_json_moment { REPRISE_JSON_AT_END, REPRISE_JSON_ASKED, REPRISE_JSON_SNAPSHOT };

void reprise_json_write(struct reprise_text *text, const struct reprise_totals *totals,
                        enum reprise_json_moment moment);

/* Called when this process's report begins. Once. */
void reprise_json_begin(void);

/* ---- turns (turns.c) ---- */

/* In words for people: "1.31 x faster, measured in 42 turns, 1.27 to 1.35". */
void reprise_report_turns(const struct reprise_turns_told *told, char *words, size_t size);

/* "measured", these words, and "turns", the figures: only where turns are wanted. Before another
 * member. */
void reprise_rows_add_turns(struct reprise_text *text);

/* ---- its lists and tables (rows.c): each adds a member after another one ---- */

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
