/* What is told when a program has ended: what its processes reported, and where none did, why
 * nothing is known. */
#pragma once

#include <stdbool.h>

#include "cli/found.h"
#include "cli/place.h"
#include "cli/summary.h"

/* Where the reports of a run go. */
struct reprise_outcome {
	char scratch[REPRISE_PLACE_SCRATCH_MOST]; /* a folder of ours that they are in; "" if the user
	                                             has chosen a place, or there can be no such folder
	                                           */
	char mark[256];
	char pattern[REPRISE_PLACE_SCRATCH_MOST + 32]; /* their name; "" if they go nowhere */
	bool chosen;                                   /* by the user, who may want to know more */
	int error;                                     /* why there is no folder */
};

/* Decides on all that, and has the environment say so. To be called under a guard (child.h). */
void reprise_outcome_begin(struct reprise_outcome *outcome);

/* The reports, and their sum. */
void reprise_outcome_look(const struct reprise_outcome *outcome, struct reprise_found *found,
                          struct reprise_summary *summary);

/* Says on stderr what became of the program, which ended with that status of waitpid(2): the tables
 * of observe, or a line. */
void reprise_outcome_tell(const struct reprise_outcome *outcome, char **command, const char *mode,
                          int status);

/* Why nothing is known of a run of which no report is whole. */
void reprise_outcome_why_unknown(const struct reprise_outcome *outcome,
                                 const struct reprise_found *found, char **command, int status,
                                 char *words, size_t size);

/* Removes what is ours. */
void reprise_outcome_end(const struct reprise_outcome *outcome);
