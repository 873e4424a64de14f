/*
 * Everything is kept in a folder that is removed at the end: the output of each run, copies of the
 * files (files.h), and the second run's reports, which show if it proves anything. If this process
 * is asked to end, the program is asked too, and the files are restored.
 */
#include "cli/commands.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/child.h"
#include "cli/files.h"
#include "cli/kept.h"
#include "cli/library.h"

#define SECOND "with"
#define FIRST "without"

struct runs {
	struct reprise_kept kept;
	struct reprise_files files;
};

static bool same_status(int without, int with)
{
	char first[REPRISE_KEPT_STATUS_MOST], second[REPRISE_KEPT_STATUS_MOST];

	if (without == with)
		printf("end: the same, %s\n", reprise_kept_status(with, first));
	else
		printf("end: differs\n  without  %s\n  with     %s\n", reprise_kept_status(without, first),
		       reprise_kept_status(with, second));
	return without == with;
}

/* Prints the result, and if the second run replayed anything. Returns the exit status. */
static int tell_verdict(const struct runs *runs, unsigned int different, char **command, int status)
{
	struct reprise_found found;
	struct reprise_summary summary;
	char why[REPRISE_KEPT_WHY_MOST], ops[REPRISE_AMOUNT_MOST], others[256];
	bool replayed;

	reprise_outcome_look(&runs->kept.outcome, &found, &summary, REPRISE_SUMMARY_REPLAYED);
	replayed = summary.replayed > 0;
	if (!replayed)
		reprise_kept_why_none(&runs->kept, &found, &summary, command, status, why);
	if (different > 0 && replayed)
		printf("reprise: %u differ%s\n", different, different == 1 ? "s" : "");
	else if (different > 0)
		printf(
			"reprise: %u differ%s, but nothing %s replayed: this is not shown to come of replaying (%s)\n",
			different, different == 1 ? "s" : "",
			summary.processes > 0 ? "was" : "is known to have been", why);
	else if (replayed)
		printf("reprise: nothing differs; %.1f %% of %s launches replayed%s%s\n",
		       reprise_summary_share(&summary), reprise_amount_count(summary.ops, ops),
		       reprise_summary_others(&summary, others, sizeof(others)) ? "; " : "", others);
	else
		printf("reprise: nothing was replayed: this proves nothing (%s)\n", why);
	reprise_found_free(&found);
	return different > 0 ? 1 : replayed ? 0 : REPRISE_KEPT_PROVES_NOTHING;
}

/* Returns the exit status. */
static int compare(struct runs *runs, char **command, int without, int with)
{
	unsigned int different = !same_status(without, with);

	different += !reprise_cli_same_files("stdout", reprise_kept_path(&runs->kept, FIRST ".out"),
	                                     reprise_kept_path(&runs->kept, SECOND ".out"));
	different += !reprise_cli_same_files("stderr", reprise_kept_path(&runs->kept, FIRST ".err"),
	                                     reprise_kept_path(&runs->kept, SECOND ".err"));
	different += reprise_files_differ(&runs->files);
	return tell_verdict(runs, different, command, with);
}

static int run_twice(struct runs *runs, char **command, bool stand_in)
{
	struct reprise_files *files = &runs->files;
	struct reprise_kept_end without, with;
	int unable;

	if (!reprise_files_look(files, true) || !reprise_kept_input(&runs->kept) ||
	    !reprise_files_keep(files, REPRISE_FILES_BEFORE))
		return REPRISE_KEPT_UNSEEN;
	unable = reprise_kept_run(&runs->kept, FIRST, command, NULL, &without);
	if (!reprise_files_look(files, false) || !reprise_files_keep(files, REPRISE_FILES_FIRST) ||
	    !reprise_files_restore(files) || unable != 0)
		return unable != 0 ? unable : REPRISE_KEPT_UNSEEN;
	unable = reprise_kept_run(&runs->kept, SECOND, command,
	                          stand_in ? reprise_cli_stand_in : reprise_cli_preload, &with);
	if (!reprise_files_look(files, false))
		unable = REPRISE_KEPT_UNSEEN;
	if (reprise_child_asked_to_end() != 0)
		reprise_files_restore(files);
	return unable != 0 ? unable : compare(runs, command, without.status, with.status);
}

int reprise_cli_twice(char **command, char *const *globs, size_t count, bool stand_in)
{
	struct runs runs = {.files = {.globs = globs, .glob_count = count, .folder = runs.kept.folder}};
	int status;

	reprise_child_guard();
	if (!reprise_kept_begin(&runs.kept))
		return REPRISE_KEPT_UNSEEN;
	status = run_twice(&runs, command, stand_in);
	reprise_files_free(&runs.files);
	reprise_kept_end(&runs.kept);
	return reprise_child_asked_to_end() != 0 ? reprise_child_end_by(reprise_child_asked_to_end())
	                                         : status;
}
