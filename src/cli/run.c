#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "cli/child.h"
#include "cli/control.h"
#include "cli/library.h"
#include "cli/outcome.h"

static bool prepare(void *stand_in)
{
	return stand_in != NULL ? reprise_cli_stand_in() : reprise_cli_preload();
}

static int wait_for_end(bool progress)
{
	int status;

	if (!progress || !reprise_progress_wanted())
		return reprise_child_wait(NULL, 0);
	status = reprise_child_wait(reprise_progress_show, REPRISE_PROGRESS_MS);
	reprise_progress_erase();
	return status;
}

int reprise_cli_run(char **command, const char *mode, const struct reprise_run_wish *wish)
{
	struct reprise_outcome outcome;
	bool enough;
	int status;

	reprise_child_guard();
	reprise_outcome_begin(&outcome);
	status = reprise_child_start(command, prepare, wish->stand_in ? &outcome : NULL);
	if (status != 0) {
		reprise_outcome_end(&outcome);
		return reprise_child_asked_to_end() != 0
		           ? reprise_child_end_by(reprise_child_asked_to_end())
		           : status;
	}
	status = wait_for_end(wish->progress);
	enough = reprise_outcome_tell(&outcome, command, mode, status, wish);
	reprise_outcome_end(&outcome);
	/* This process ends as the program ended. */
	if (WIFSIGNALED(status))
		return reprise_child_end_by(WTERMSIG(status));
	return WEXITSTATUS(status) == 0 && !enough ? REPRISE_RUN_TOO_LITTLE : WEXITSTATUS(status);
}
