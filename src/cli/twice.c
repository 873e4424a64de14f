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
#define AGAIN "again" /* without Reprise once more, where the first two differ */

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

/* Prints the result, and if the second run replayed anything. `varies`: something does without
 * Reprise, too. Returns the exit status. */
static int tell_verdict(const struct runs *runs, unsigned int different, bool varies,
                        char **command, int status)
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
			"reprise: %u differ%s, but nothing %s replayed: this is not shown to come from replaying (%s)\n",
			different, different == 1 ? "s" : "",
			summary.processes > 0 ? "was" : "is known to have been", why);
	else if (replayed)
		printf("reprise: nothing %sdiffers; %.1f %% of %s launches replayed%s%s\n",
		       varies ? "else " : "", reprise_summary_share(&summary),
		       reprise_amount_count(summary.ops, ops),
		       reprise_summary_others(&summary, others, sizeof(others)) ? "; " : "", others);
	else
		printf("reprise: nothing was replayed: this proves nothing (%s)\n", why);
	reprise_found_free(&found);
	return different > 0 ? 1 : replayed ? 0 : REPRISE_KEPT_PROVES_NOTHING;
}

static const struct {
	const char *name, *first, *second, *again;
} outputs[] = {
	{"stdout", FIRST ".out", SECOND ".out", AGAIN ".out"},
	{"stderr", FIRST ".err", SECOND ".err", AGAIN ".err"},
};

#define OUTPUTS (sizeof(outputs) / sizeof(outputs[0]))

/* How many of the outputs that differ do so without Reprise, too: times that the program prints. A
 * third run tells, but not where it would write files that have been compared. */
static unsigned int count_varying(struct runs *runs, char **command, const bool differs[OUTPUTS])
{
	struct reprise_kept_end again;
	unsigned int varying = 0;

	if (runs->files.glob_count > 0 || (!differs[0] && !differs[1]) ||
	    reprise_kept_run(&runs->kept, AGAIN, command, NULL, &again) != 0)
		return 0;
	for (unsigned int i = 0; i < OUTPUTS; i++) {
		if (!differs[i] ||
		    reprise_cli_equal_files(reprise_kept_path(&runs->kept, outputs[i].first),
		                            reprise_kept_path(&runs->kept, outputs[i].again)))
			continue;
		printf("%s: varies from run to run without Reprise, too\n", outputs[i].name);
		varying++;
	}
	return varying;
}

/* Returns the exit status. */
static int compare(struct runs *runs, char **command, int without, int with)
{
	unsigned int different = !same_status(without, with), varying = 0;
	bool differs[OUTPUTS];

	for (unsigned int i = 0; i < OUTPUTS; i++) {
		differs[i] = !reprise_cli_same_files(outputs[i].name,
		                                     reprise_kept_path(&runs->kept, outputs[i].first),
		                                     reprise_kept_path(&runs->kept, outputs[i].second));
		different += differs[i];
	}
	if (without == with)
		varying = count_varying(runs, command, differs);
	different += reprise_files_differ(&runs->files);
	return tell_verdict(runs, different - varying, varying > 0, command, with);
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
