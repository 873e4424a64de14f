/*
 * Everything is kept in a folder that is removed at the end: the output of each run, copies of the
 * files (files.h), and the second run's reports, which show if it proves anything. If this process
 * is asked to end, the program is asked too, and the files are restored.
 */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/launcher.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/files.h"
#include "cli/library.h"
#include "cli/outcome.h"
#include "cli/output_check.h"

#define PATH_MOST 4352
#define WHY_MOST (PATH_MOST + 256)
#define UNSEEN 2 /* exit status if nothing could be compared */
#define PROVES_NOTHING 3
#define SECOND "with"
#define FIRST "without"

struct runs {
	char folder[REPRISE_SCRATCH_MOST];
	struct reprise_outcome outcome; /* of the second run */
	struct reprise_files files;
};

static const char *path_of(const struct runs *runs, const char *what)
{
	static char paths[2][PATH_MOST];
	static unsigned int next;
	char *path = paths[next++ % 2];

	snprintf(path, PATH_MOST, "%s/%s", runs->folder, what);
	return path;
}

struct preparation {
	const struct runs *runs;
	const char *which;
	bool (*load)(void); /* sets the environment for the library; NULL: without it */
};

/* Runs in the child. */
static bool prepare(void *context)
{
	const struct preparation *preparation = context;
	char name[16];
	int input = open(path_of(preparation->runs, "stdin"), O_RDONLY | O_CLOEXEC), output, errors;

	snprintf(name, sizeof(name), "%s.out", preparation->which);
	output =
		open(path_of(preparation->runs, name), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	snprintf(name, sizeof(name), "%s.err", preparation->which);
	errors =
		open(path_of(preparation->runs, name), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	if (input < 0 || output < 0 || errors < 0) {
		fprintf(stderr, "reprise: cannot keep what the program prints in %s: %s\n",
		        preparation->runs->folder, strerror(errno));
		return false;
	}
	/* REPRISE=off also if the environment preloads Reprise. What that leaves is no report of the
	 * second run. */
	if (preparation->load == NULL)
		unsetenv(REPRISE_LAUNCHER_MARK);
	if (setenv("REPRISE", preparation->load != NULL ? "on" : "off", 1) != 0 ||
	    (preparation->load != NULL && !preparation->load()))
		return false;
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	return dup2(errors, STDERR_FILENO) >= 0;
}

/* False if what a run printed may have been cut, because the folder is full. */
static bool is_kept(const struct runs *runs)
{
	const char *problem = reprise_output_check_room(runs->folder);

	if (problem != NULL)
		fprintf(stderr, "reprise: cannot keep what the program prints in %s: %s\n", runs->folder,
		        problem);
	return problem == NULL;
}

/* Returns 0 with the program's status in *status, or the exit status: the program could not be
 * started, its output not kept (both with a message), or this process is asked to end. */
static int run(const struct runs *runs, const char *which, char **command, bool (*load)(void),
               int *status)
{
	struct preparation preparation = {runs, which, load};
	int unable = reprise_child_start(command, prepare, &preparation);

	if (unable != 0)
		return reprise_child_asked_to_end() != 0 ? UNSEEN : unable;
	*status = reprise_child_wait(NULL, 0);
	return reprise_child_asked_to_end() == 0 && is_kept(runs) ? 0 : UNSEEN;
}

static const char *status_words(int status, char *words, size_t size)
{
	snprintf(words, size, WIFSIGNALED(status) ? "signal %d" : "status %d",
	         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return words;
}

static bool same_status(int without, int with)
{
	char first[32], second[32];

	if (without == with)
		printf("end: the same, %s\n", status_words(with, first, sizeof(first)));
	else
		printf("end: differs\n  without  %s\n  with     %s\n",
		       status_words(without, first, sizeof(first)),
		       status_words(with, second, sizeof(second)));
	return without == with;
}

/* Why the second run replayed nothing. */
static void why_nothing_replayed(const struct runs *runs, const struct reprise_found *found,
                                 const struct reprise_summary *summary, char **command, int status,
                                 char why[WHY_MOST])
{
	if (summary->processes == 0)
		reprise_outcome_why_unknown(&runs->outcome, found, command, status, why, WHY_MOST);
	else if (summary->ops == 0 && summary->aside_for[0] != '\0')
		snprintf(why, WHY_MOST, "Reprise stood aside for %s", summary->aside_for);
	else if (summary->ops == 0 && reprise_summary_others(summary, why, WHY_MOST))
		return;
	else if (summary->ops == 0)
		snprintf(why, WHY_MOST, "no CUDA launches were seen");
	else
		reprise_summary_why_none(summary, why, WHY_MOST);
}

/* Prints the result, and if the second run replayed anything. Returns the exit status. */
static int tell_verdict(const struct runs *runs, unsigned int different, char **command, int status)
{
	struct reprise_found found;
	struct reprise_summary summary;
	char why[WHY_MOST], ops[REPRISE_AMOUNT_MOST], others[256];
	bool replayed;

	reprise_outcome_look(&runs->outcome, &found, &summary, REPRISE_SUMMARY_REPLAYED);
	replayed = summary.replayed > 0;
	if (!replayed)
		why_nothing_replayed(runs, &found, &summary, command, status, why);
	if (different > 0 && replayed)
		printf("reprise: %u differ\n", different);
	else if (different > 0)
		printf(
			"reprise: %u differ, but nothing %s replayed: this is not shown to come of replaying (%s)\n",
			different, summary.processes > 0 ? "was" : "is known to have been", why);
	else if (replayed)
		printf("reprise: nothing differs; %.1f %% of %s launches replayed%s%s\n",
		       reprise_summary_share(&summary), reprise_amount_count(summary.ops, ops),
		       reprise_summary_others(&summary, others, sizeof(others)) ? "; " : "", others);
	else
		printf("reprise: nothing was replayed: this proves nothing (%s)\n", why);
	reprise_found_free(&found);
	return different > 0 ? 1 : replayed ? 0 : PROVES_NOTHING;
}

/* Returns the exit status. */
static int compare(struct runs *runs, char **command, int without, int with)
{
	unsigned int different = !same_status(without, with);

	different += !reprise_cli_same_files("stdout", path_of(runs, FIRST ".out"),
	                                     path_of(runs, SECOND ".out"));
	different += !reprise_cli_same_files("stderr", path_of(runs, FIRST ".err"),
	                                     path_of(runs, SECOND ".err"));
	different += reprise_files_differ(&runs->files);
	return tell_verdict(runs, different, command, with);
}

static bool keep_input(const struct runs *runs)
{
	int file = open(path_of(runs, "stdin"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bool kept = file >= 0 && (isatty(STDIN_FILENO) || reprise_copy_rest(STDIN_FILENO, file, true));

	if (file >= 0)
		close(file);
	return kept;
}

static void clean_up(struct runs *runs)
{
	reprise_files_free(&runs->files);
	reprise_outcome_end(&runs->outcome);
	reprise_scratch_remove(runs->folder);
}

static int run_twice(struct runs *runs, char **command, bool stand_in)
{
	struct reprise_files *files = &runs->files;
	int without, with, unable;

	if (!reprise_files_look(files, true) || !keep_input(runs) ||
	    !reprise_files_keep(files, REPRISE_FILES_BEFORE))
		return UNSEEN;
	unable = run(runs, FIRST, command, NULL, &without);
	if (!reprise_files_look(files, false) || !reprise_files_keep(files, REPRISE_FILES_FIRST) ||
	    !reprise_files_restore(files) || unable != 0)
		return unable != 0 ? unable : UNSEEN;
	unable =
		run(runs, SECOND, command, stand_in ? reprise_cli_stand_in : reprise_cli_preload, &with);
	if (!reprise_files_look(files, false))
		unable = UNSEEN;
	if (reprise_child_asked_to_end() != 0)
		reprise_files_restore(files);
	return unable != 0 ? unable : compare(runs, command, without, with);
}

int reprise_cli_twice(char **command, char *const *globs, size_t count, bool stand_in)
{
	struct runs runs = {.files = {.globs = globs, .glob_count = count, .folder = runs.folder}};
	int status;

	reprise_child_guard();
	if (!reprise_scratch_make(runs.folder)) {
		fprintf(stderr,
		        "reprise: there can be no folder for what the runs leave, in $TMPDIR or /tmp: %s\n",
		        strerror(errno));
		return UNSEEN;
	}
	reprise_outcome_begin(&runs.outcome);
	status = run_twice(&runs, command, stand_in);
	clean_up(&runs);
	return reprise_child_asked_to_end() != 0 ? reprise_child_end_by(reprise_child_asked_to_end())
	                                         : status;
}
