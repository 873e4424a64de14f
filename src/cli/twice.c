/*
 * All is kept in a folder that is gone afterwards: what each run printed, and copies of the files by their number, from before (`b`) and from after the
 * first run (`f`).
 */
#include "twice.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "differ.h"
#include "library.h"

#define PATH_MOST 4352
#define SECOND "with"
#define FIRST "without"

struct file {
	char *name;
	bool was_there; /* before the first run */
};

struct runs {
	char folder[PATH_MOST - 64];
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

/* Reads `from` to its end, or as long as it can be. */
static bool copy_rest(int from, int to)
{
	char bytes[65536];
	ssize_t got;

	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		for (ssize_t written = 0, more; written < got; written += more)
			if ((more = write(to, bytes + written, (size_t)(got - written))) <= 0)
				return false;
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
		copied = copy_rest(source, target);
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
		exit(2);
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

/* In the child. */
static void become(const struct runs *runs, const char *which, char **command, bool (*prepare)(void))
{
	char name[16];
	int input = open(path_of(runs, "stdin"), O_RDONLY | O_CLOEXEC), output, errors;

	snprintf(name, sizeof(name), "%s.out", which);
	output = open(path_of(runs, name), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	snprintf(name, sizeof(name), "%s.err", which);
	errors = open(path_of(runs, name), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (prepare != NULL && !prepare())
		_exit(127);
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	execvp(command[0], command);
	fprintf(stderr, "reprise: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int run(const struct runs *runs, const char *which, char **command, bool (*prepare)(void))
{
	int status = 127 << 8;
	pid_t child = fork();

	if (child == 0)
		become(runs, which, command, prepare);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static bool interrupted(int status)
{
	return WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT);
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

/* How many differ. */
static unsigned int compare(struct runs *runs, int without, int with)
{
	unsigned int different = !same_status(without, with);

	different += !reprise_cli_same_files("stdout", path_of(runs, FIRST ".out"), path_of(runs, SECOND ".out"));
	different += !reprise_cli_same_files("stderr", path_of(runs, FIRST ".err"), path_of(runs, SECOND ".err"));
	for (size_t i = 0; i < runs->count; i++) {
		const char *first = copy_path(runs, 'f', i);

		if (access(first, F_OK) == 0 || access(runs->files[i].name, F_OK) == 0)
			different += !reprise_cli_same_files(runs->files[i].name, first, runs->files[i].name);
	}
	if (different > 0)
		printf("reprise: %u differ\n", different);
	else
		puts("reprise: nothing differs");
	return different;
}

static bool keep_input(const struct runs *runs)
{
	int file = open(path_of(runs, "stdin"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bool kept = file >= 0 && (isatty(STDIN_FILENO) || copy_rest(STDIN_FILENO, file));

	if (file >= 0)
		close(file);
	return kept;
}

static void clean_up(struct runs *runs)
{
	static const char *const names[] = {"stdin", FIRST ".out", FIRST ".err", SECOND ".out", SECOND ".err"};

	for (size_t i = 0; i < runs->count; i++) {
		unlink(copy_path(runs, 'b', i));
		unlink(copy_path(runs, 'f', i));
		free(runs->files[i].name);
	}
	free(runs->files);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(runs, names[i]));
	rmdir(runs->folder);
}

static int run_twice(struct runs *runs, char **command, bool stand_in)
{
	int without, with;

	look(runs, true);
	if (!keep_input(runs) || !keep(runs, 'b'))
		return 2;
	setenv("REPRISE", "on", 1);
	without = run(runs, FIRST, command, NULL);
	look(runs, false);
	if (!keep(runs, 'f') || !restore(runs) || interrupted(without))
		return 2;
	with = run(runs, SECOND, command, stand_in ? reprise_cli_stand_in : reprise_cli_preload);
	look(runs, false);
	return interrupted(with) ? 2 : compare(runs, without, with) > 0;
}

int reprise_cli_twice(char **command, char *const *globs, size_t count, bool stand_in)
{
	const char *temporary = getenv("TMPDIR");
	struct runs runs = {.globs = globs, .glob_count = count};
	int status;

	snprintf(runs.folder, sizeof(runs.folder), "%s/reprise-XXXXXX", temporary != NULL ? temporary : "/tmp");
	if (mkdtemp(runs.folder) == NULL) {
		perror("reprise: no folder for what the runs leave");
		return 2;
	}
	signal(SIGINT, SIG_IGN); /* the program's business */
	signal(SIGQUIT, SIG_IGN);
	status = run_twice(&runs, command, stand_in);
	clean_up(&runs);
	return status;
}
