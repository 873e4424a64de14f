/* What `reprise bench` has measured, and how that is told (bench_tell.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/kept.h"
#include "cli/paired.h"

enum reprise_bench_side { REPRISE_BENCH_WITHOUT, REPRISE_BENCH_WITH, REPRISE_BENCH_SIDES };

/* What became of an output in the runs. */
enum reprise_bench_output {
	REPRISE_BENCH_SAME,
	REPRISE_BENCH_DIFFERS, /* in a run with Reprise, from the first run without */
	REPRISE_BENCH_VARIES,  /* from run to run without Reprise, too */
};

#define REPRISE_BENCH_OUTPUTS 2 /* stdout, stderr */

struct reprise_bench {
	struct reprise_kept kept;
	size_t count;                                              /* pairs of runs */
	double wall[REPRISE_BENCH_SIDES][REPRISE_PAIRS_MOST];      /* seconds, by pair */
	double processor[REPRISE_BENCH_SIDES][REPRISE_PAIRS_MOST]; /* the same */
	enum reprise_bench_output outputs[REPRISE_BENCH_OUTPUTS];
};

/* The runs whose output is kept: the first without Reprise, the present one, and the first one with
 * Reprise whose output differed. */
#define REPRISE_BENCH_FIRST "first"
#define REPRISE_BENCH_NOW "now"
#define REPRISE_BENCH_OTHER "other"

/* The path of that run's output. Valid until the next call but one. */
const char *reprise_bench_output(const struct reprise_bench *bench, const char *which,
                                 unsigned int output);

/* Prints it all, in words or as JSON. Returns the exit status. */
int reprise_bench_tell(const struct reprise_bench *bench, char **command, bool json);
