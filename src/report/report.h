/*
 * The report: what was counted, as one line on stderr or as a JSON object in a file, when the process ends. Only if the user
 * asked for it (REPRISE_REPORT) and there was something to count. Makes no CUDA call, so that it may run in a destructor.
 */
#pragma once

#include "../lane/lane.h"

/* What all lanes have counted. Takes no lock: a count may be one short. */
struct reprise_lane_counts reprise_report_sum(void);
uint64_t reprise_report_side_exits(const struct reprise_lane_counts *sum);

void reprise_report_at_exit(void);

/* The report as it is now, as JSON; in memory that the next call uses again. By one thread only. */
const char *reprise_report_now(void);

/* When Reprise starts. */
void reprise_report_begin(void);

/* After fork, in the child: what was counted is the parent's. */
void reprise_report_forget(void);
