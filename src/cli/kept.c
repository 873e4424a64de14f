/* Everything is kept in a folder that is removed at the end. If this process is asked to end, the
 * program is asked too. */
#include "cli/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/launcher.h"
#include "cli/child.h"
#include "cli/files.h"
#include "cli/reports.h"

bool reprise_kept_begin(struct reprise_kept *kept)
{
	if (!reprise_scratch_make(kept->folder)) {
		fprintf(stderr,
		        "reprise: cannot make a folder in $TMPDIR or /tmp for what the runs leave: %s\n",
		        strerror(errno));
		return false;
	}
	reprise_outcome_begin(&kept->outcome);
	return true;
}

void reprise_kept_end(struct reprise_kept *kept)
{
	reprise_outcome_end(&kept->outcome);
	reprise_scratch_remove(kept->folder);
}

const char *reprise_kept_path(const struct reprise_kept *kept, const char *name)
{
	static char paths[2][REPRISE_KEPT_PATH_MOST];
	static unsigned int next;
	char *path = paths[next++ % 2];

	snprintf(path, REPRISE_KEPT_PATH_MOST, "%s/%s", kept->folder, name);
	return path;
}

bool reprise_kept_input(const struct reprise_kept *kept)
{
	int file = open(reprise_kept_path(kept, "stdin"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bool whole = file >= 0 && (isatty(STDIN_FILENO) || reprise_copy_rest(STDIN_FILENO, file, true));

	if (file >= 0)
		close(file);
	return whole;
}

struct preparation {
	const struct reprise_kept *kept;
	const char *which;
	bool (*load)(void); /* sets the environment for the library; NULL: without it */
};

/* Runs in the child. */
static bool prepare(void *context)
{
	const struct preparation *preparation = context;
	char name[16];
	int input = open(reprise_kept_path(preparation->kept, "stdin"), O_RDONLY | O_CLOEXEC), output,
		errors;

	snprintf(name, sizeof(name), "%s.out", preparation->which);
	output = open(reprise_kept_path(preparation->kept, name),
	              O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	snprintf(name, sizeof(name), "%s.err", preparation->which);
	errors = open(reprise_kept_path(preparation->kept, name),
	              O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	if (input < 0 || output < 0 || errors < 0) {
		fprintf(stderr, "reprise: cannot keep what the program prints in %s: %s\n",
		        preparation->kept->folder, strerror(errno));
		return false;
	}
	/* REPRISE=off also if the environment preloads Reprise. What that leaves is no report of a
	 * run with Reprise. */
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
static bool is_kept(const struct reprise_kept *kept)
{
	const char *problem = reprise_output_check_room(kept->folder);

	if (problem != NULL)
		fprintf(stderr, "reprise: cannot keep what the program prints in %s: %s\n", kept->folder,
		        problem);
	return problem == NULL;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The processor time of all children that were waited for, and of those that they waited for. */
static double of_children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int reprise_kept_run(const struct reprise_kept *kept, const char *which, char **command,
                     bool (*load)(void), struct reprise_kept_end *end)
{
	struct preparation preparation = {kept, which, load};
	double before = of_children(), began = now();
	int unable = reprise_child_start(command, prepare, &preparation);

	if (unable != 0)
		return reprise_child_asked_to_end() != 0 ? REPRISE_KEPT_UNSEEN : unable;
	end->status = reprise_child_wait(NULL, 0);
	end->seconds = now() - began;
	end->processor_seconds = of_children() - before;
	return reprise_child_asked_to_end() == 0 && is_kept(kept) ? 0 : REPRISE_KEPT_UNSEEN;
}

const char *reprise_kept_status(int status, char words[REPRISE_KEPT_STATUS_MOST])
{
	snprintf(words, REPRISE_KEPT_STATUS_MOST, WIFSIGNALED(status) ? "signal %d" : "status %d",
	         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return words;
}

void reprise_kept_why_none(const struct reprise_kept *kept, const struct reprise_found *found,
                           const struct reprise_summary *summary, char **command, int status,
                           char why[REPRISE_KEPT_WHY_MOST])
{
	if (summary->processes == 0)
		reprise_outcome_why_unknown(&kept->outcome, found, command, status, why,
		                            REPRISE_KEPT_WHY_MOST);
	else if (summary->ops == 0 && summary->aside_for[0] != '\0')
		snprintf(why, REPRISE_KEPT_WHY_MOST, "Reprise stood aside for %s", summary->aside_for);
	else if (summary->ops == 0 && reprise_summary_others(summary, why, REPRISE_KEPT_WHY_MOST))
		return;
	else if (summary->ops == 0)
		snprintf(why, REPRISE_KEPT_WHY_MOST, "no CUDA launches were seen");
	else
		reprise_summary_why_none(summary, why, REPRISE_KEPT_WHY_MOST);
}
