/* What is printed when a program has ended: what its processes reported, or why they did not. */
#pragma once

#include <stdbool.h>

#include "cli/commands.h"
#include "cli/output_check.h"
#include "cli/reports.h"

/* Where a run's reports go. */
struct reprise_outcome {
	/* A folder of Reprise's for them; "" if the user chose a place or no folder could be made. */
	char scratch[REPRISE_SCRATCH_MOST];
	char mark[256];
	char pattern[REPRISE_SCRATCH_MOST + 32]; /* the path of the reports; "": there are none */
	bool chosen;                             /* the user chose it, and may want to know more */
	bool of_a_line;                          /* the user wants a line on stderr, and no more */
	int error;                               /* why there is no folder */
};

/* Decides all this and sets the environment. Call it under a guard (child.h). */
void reprise_outcome_begin(struct reprise_outcome *outcome);

/* Finds the reports and adds those of that kind up; their paths are the first. */
void reprise_outcome_look(const struct reprise_outcome *outcome, struct reprise_found *found,
                          struct reprise_summary *summary, enum reprise_summary_kind kind);

/* Prints on stderr the outcome of the program, which ended with that status of waitpid(2): the
 * tables of observe, or a line. Then writes the page, if one is wished for. False, and a line that
 * says so, if less was replayed than the wish requires. */
bool reprise_outcome_tell(const struct reprise_outcome *outcome, char **command, const char *mode,
                          int status, const struct reprise_run_wish *wish);

/* Why there is no whole report of the run. */
void reprise_outcome_why_unknown(const struct reprise_outcome *outcome,
                                 const struct reprise_found *found, char **command, int status,
                                 char *words, size_t size);

/* Removes the folder of Reprise's. */
void reprise_outcome_end(const struct reprise_outcome *outcome);
