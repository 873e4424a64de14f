/*
 * All is kept in a folder that is gone afterwards: what each run printed, copies of the files by their number, from before (`b`) and from after the first
 * run (`f`), and the reports of the second run, which tell whether it proves anything. Who asks this process to end has the program told, and finds the
 * files as they were.
 */
#include "twice.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/amounts.h"
#include "child.h"
#include "differ.h"
#include "library.h"
#include "outcome.h"
#include "place.h"

#define PATH_MOST 4352
#define WHY_MOST (PATH_MOST + 256)
#define UNSEEN 2 /* what is returned if nothing could be compared */
#define PROVES_NOTHING 3
#define SECOND "with"
#define FIRST "without"

struct file {
	char *name;
	bool was_there; /* before the first run */
};

struct runs {
	char folder[REPRISE_PLACE_SCRATCH_MOST];
	struct reprise_outcome outcome; /* of the second run */
	char *const *globs;
	size_t glob_count;
	struct file *files; /* all that were ever seen */
	size_t count;
};

static const char *path_of(const struct runs *runs, const char *what)
{
	static char paths[2][PATH_MOST];
	static unsigned int next;
	char *path = paths[next++ % 2];

	snprintf(path, PATH_MOST, "%s/%s", runs->folder, what);
	return path;
}

static const char *copy_path(const struct runs *runs, char when, size_t i)
{
	char name[32];

	snprintf(name, sizeof(name), "%c%zu", when, i);
	return path_of(runs, name);
}

/* Reads `from` to its end, or as long as it can be; `unless_asked`: and as long as nobody asks this process to end. */
static bool copy_rest(int from, int to, bool unless_asked)
{
	char bytes[65536];
	ssize_t got = -1; /* unless it is read to its end */

	while (!(unless_asked && reprise_child_asked_to_end() != 0) && (got = read(from, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno != EINTR)
			return false;
		for (ssize_t written = 0, more; written < got; written += more)
			if ((more = write(to, bytes + written, (size_t)(got - written))) <= 0)
				return false;
	}
	return got == 0;
}

static bool copy_file(const char *from, const char *to)
{
	int source = open(from, O_RDONLY | O_CLOEXEC), target = -1;
	struct stat status;
	bool copied = false;

	if (source >= 0 && fstat(source, &status) == 0)
		target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, status.st_mode & 0777);
	if (target >= 0)
		copied = copy_rest(source, target, false);
	if (source >= 0)
		close(source);
	if (target >= 0 && close(target) != 0)
		copied = false;
	return copied;
}

static struct file *find(struct runs *runs, const char *name)
{
	for (size_t i = 0; i < runs->count; i++)
		if (strcmp(runs->files[i].name, name) == 0)
			return &runs->files[i];
	return NULL;
}

static void add(struct runs *runs, const char *name, bool was_there)
{
	struct file *more = realloc(runs->files, (runs->count + 1) * sizeof(*more));
	char *copied = strdup(name);

	if (more == NULL || copied == NULL) {
		perror("reprise");
		exit(UNSEEN);
	}
	more[runs->count++] = (struct file){copied, was_there};
	runs->files = more;
}

/* Notes the plain files that are there now. */
static void look(struct runs *runs, bool before)
{
	glob_t found = {0};
	struct stat status;

	for (size_t i = 0; i < runs->glob_count; i++)
		glob(runs->globs[i], i > 0 ? GLOB_APPEND : 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (find(runs, found.gl_pathv[i]) == NULL && stat(found.gl_pathv[i], &status) == 0 && S_ISREG(status.st_mode))
			add(runs, found.gl_pathv[i], before);
	globfree(&found);
}

static bool keep(struct runs *runs, char when)
{
	for (size_t i = 0; i < runs->count; i++)
		if (access(runs->files[i].name, F_OK) == 0 && !copy_file(runs->files[i].name, copy_path(runs, when, i))) {
			fprintf(stderr, "reprise: %s cannot be copied to %s\n", runs->files[i].name, runs->folder);
			return false;
		}
	return true;
}

/* As it was before the first run. */
static bool restore(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		const struct file *file = &runs->files[i];

		if (file->was_there ? !copy_file(copy_path(runs, 'b', i), file->name) : unlink(file->name) != 0 && errno != ENOENT) {
			fprintf(stderr, "reprise: %s cannot be made what it was: %s\n", file->name, strerror(errno));
			return false;
		}
	}
	return true;
}

struct preparation {
	const struct runs *runs;
	const char *which;
	bool (*load)(void); /* the library, or NULL */
};

/* In the child. */
static bool prepare(void *context)
{
	const struct preparation *preparation = context;
	char name[16];
	int input = open(path_of(preparation->runs, "stdin"), O_RDONLY | O_CLOEXEC), output, errors;

	snprintf(name, sizeof(name), "%s.out", preparation->which);
	output = open(path_of(preparation->runs, name), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	snprintf(name, sizeof(name), "%s.err", preparation->which);
	errors = open(path_of(preparation->runs, name), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	if (input < 0 || output < 0 || errors < 0) {
		fprintf(stderr, "reprise: cannot keep what the program prints in %s: %s\n", preparation->runs->folder, strerror(errno));
		return false;
	}
	/* Without means without, whatever the environment preloads. */
	if (setenv("REPRISE", preparation->load != NULL ? "on" : "off", 1) != 0 || (preparation->load != NULL && !preparation->load()))
		return false;
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	return dup2(errors, STDERR_FILENO) >= 0;
}

/* Whether what a run printed is all there: where the folder is full, it may have been cut. */
static bool is_kept(const struct runs *runs)
{
	const char *problem = reprise_place_room_problem(runs->folder);

	if (problem != NULL)
		fprintf(stderr, "reprise: cannot keep what the program prints in %s: %s\n", runs->folder, problem);
	return problem == NULL;
}

/* 0, with its end; or the status to exit with: it could not be started, or not be kept, which is said, or somebody asks this process to end. */
static int run(const struct runs *runs, const char *which, char **command, bool (*load)(void), int *status)
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
	snprintf(words, size, WIFSIGNALED(status) ? "signal %d" : "status %d", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return words;
}

static bool same_status(int without, int with)
{
	char first[32], second[32];

	if (without == with)
		printf("end: the same, %s\n", status_words(with, first, sizeof(first)));
	else
		printf("end: differs\n  without  %s\n  with     %s\n", status_words(without, first, sizeof(first)),
		       status_words(with, second, sizeof(second)));
	return without == with;
}

/* Of the second run. Returns `why`. */
static const char *why_nothing_replayed(const struct runs *runs, const struct reprise_found *found, const struct reprise_summary *summary, char **command, int status,
                                        char why[WHY_MOST])
{
	if (summary->processes == 0)
		reprise_outcome_why_unknown(&runs->outcome, found, command, status, why, WHY_MOST);
	else if (summary->ops == 0 && summary->aside_for[0] != '\0')
		snprintf(why, WHY_MOST, "Reprise stood aside for %s", summary->aside_for);
	else if (summary->ops == 0)
		snprintf(why, WHY_MOST, "no CUDA launches were seen");
	else
		reprise_summary_why_none(summary, why, WHY_MOST);
	return why;
}

/* Whether anything was replayed in the second run; says so. */
static bool proves_something(const struct runs *runs, char **command, int status)
{
	struct reprise_found found;
	struct reprise_summary summary;
	char why[WHY_MOST], ops[REPRISE_AMOUNT_MOST];

	reprise_outcome_look(&runs->outcome, &found, &summary);
	if (summary.replayed > 0)
		printf("reprise: nothing differs; %.1f %% of %s launches replayed\n", reprise_summary_share(&summary), reprise_amount_count(summary.ops, ops));
	else
		printf("reprise: nothing was replayed: this proves nothing (%s)\n", why_nothing_replayed(runs, &found, &summary, command, status, why));
	reprise_found_free(&found);
	return summary.replayed > 0;
}

/* Returns the status to exit with. */
static int compare(struct runs *runs, char **command, int without, int with)
{
	unsigned int different = !same_status(without, with);

	different += !reprise_cli_same_files("stdout", path_of(runs, FIRST ".out"), path_of(runs, SECOND ".out"));
	different += !reprise_cli_same_files("stderr", path_of(runs, FIRST ".err"), path_of(runs, SECOND ".err"));
	for (size_t i = 0; i < runs->count; i++) {
		const char *first = copy_path(runs, 'f', i);

		if (access(first, F_OK) == 0 || access(runs->files[i].name, F_OK) == 0)
			different += !reprise_cli_same_files(runs->files[i].name, first, runs->files[i].name);
	}
	if (different == 0)
		return proves_something(runs, command, with) ? 0 : PROVES_NOTHING;
	printf("reprise: %u differ\n", different);
	return 1;
}

static bool keep_input(const struct runs *runs)
{
	int file = open(path_of(runs, "stdin"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bool kept = file >= 0 && (isatty(STDIN_FILENO) || copy_rest(STDIN_FILENO, file, true));

	if (file >= 0)
		close(file);
	return kept;
}

static void clean_up(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		free(runs->files[i].name);
	free(runs->files);
	reprise_outcome_end(&runs->outcome);
	reprise_place_remove_scratch(runs->folder);
}

static int run_twice(struct runs *runs, char **command, bool stand_in)
{
	int without, with, unable;

	look(runs, true);
	if (!keep_input(runs) || !keep(runs, 'b'))
		return UNSEEN;
	unable = run(runs, FIRST, command, NULL, &without);
	look(runs, false);
	if (!keep(runs, 'f') || !restore(runs) || unable != 0)
		return unable != 0 ? unable : UNSEEN;
	unable = run(runs, SECOND, command, stand_in ? reprise_cli_stand_in : reprise_cli_preload, &with);
	look(runs, false);
	if (reprise_child_asked_to_end() != 0)
		restore(runs);
	return unable != 0 ? unable : compare(runs, command, without, with);
}

int reprise_cli_twice(char **command, char *const *globs, size_t count, bool stand_in)
{
	struct runs runs = {.globs = globs, .glob_count = count};
	int status;

	reprise_child_guard();
	if (!reprise_place_make_scratch(runs.folder)) {
		fprintf(stderr, "reprise: there can be no folder for what the runs leave, in $TMPDIR or /tmp: %s\n", strerror(errno));
		return UNSEEN;
	}
	reprise_outcome_begin(&runs.outcome);
	status = run_twice(&runs, command, stand_in);
	clean_up(&runs);
	return reprise_child_asked_to_end() != 0 ? reprise_child_end_by(reprise_child_asked_to_end()) : status;
}
