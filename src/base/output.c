/* The state of the report's file is under the lock for writing reports (report/report.c). */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/before.h"
#include "base/keep.h"
#include "base/launcher.h"
#include "base/text.h"
#include "base/thread.h"

#define PATH_MOST 600
#define TRIES_MOST 10
#define DRAFT_MOST (REPRISE_OUTPUT_PATH_MOST + 32)
#define HEAD_MOST 1024 /* bytes at the begin of a report, which have the mark of its run */

static const char *report_pattern = "";
static char began_in[REPRISE_OUTPUT_PATH_MOST]; /* the folder; empty if not known */
static struct reprise_before before;            /* when reporting on this process began */

/* The report that this process wrote last, if any. */
static struct {
	bool known;
	char path[REPRISE_OUTPUT_PATH_MOST];
	dev_t device;
	ino_t inode;
} mine;

static bool expand(const char *pattern, char *path)
{
	return reprise_expand(pattern, getpid(), path, PATH_MOST);
}

static int open_new(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
}

bool reprise_output_may_replace(const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() && status->st_nlink == 1;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* ---- the report ---- */

static bool find_path(char *path)
{
	char name[PATH_MOST];
	bool relative = report_pattern[0] != '/' && began_in[0] != '\0';

	return expand(report_pattern, name) &&
	       snprintf(path, REPRISE_OUTPUT_PATH_MOST, "%s%s%s", relative ? began_in : "",
	                relative ? "/" : "", name) < REPRISE_OUTPUT_PATH_MOST;
}

void reprise_output_begin(const char *pattern)
{
	char path[REPRISE_OUTPUT_PATH_MOST];

	report_pattern = pattern;
	mine.known = false;
	if (pattern[0] == '/' || getcwd(began_in, sizeof(began_in)) == NULL)
		began_in[0] = '\0';
	reprise_before_note(&before, find_path(path) ? path : NULL);
}

void reprise_output_forget(void)
{
	mine.known = false;
}

/* True if a process wrote the report that the same command started, or a command within it. */
static bool is_of_this_run(int file)
{
	const char *mark = reprise_launcher_mark();
	char run[REPRISE_LAUNCHER_MARK_MOST + 16], head[HEAD_MOST + 1];
	int outermost = (int)strcspn(mark, "/");
	ssize_t length = outermost > 0 ? pread(file, head, HEAD_MOST, 0) : 0;
	const char *at;

	if (length <= 0)
		return false;
	head[length] = '\0';
	snprintf(run, sizeof(run), "\n  \"run\": \"%.*s", outermost, mark);
	at = strstr(head, run);
	return at != NULL && strchr("\"/", at[strlen(run)]) != NULL;
}

/* For reading too, if the user may. */
static int open_both_ways(const char *path)
{
	int flags = O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, file = open(path, O_RDWR | flags);

	return file >= 0 || errno != EACCES ? file : open(path, O_WRONLY | flags);
}

/*
 * Opens the file of that name, if an earlier run left it. Does not open what is not a regular file
 * of this user's: opening alone can act on a device. The check under the file's lock is final.
 * *taken: the file belongs to another process of this run. Returns the error.
 */
static int open_old(const char *path, int *file, struct stat *status, bool *taken)
{
	struct stat named;
	int error;

	if (lstat(path, status) != 0)
		return errno;
	if (!reprise_output_may_replace(status))
		return REPRISE_OUTPUT_NOT_OURS;
	*file = open_both_ways(path);
	if (*file < 0)
		return errno;
	*taken = flock(*file, LOCK_EX | LOCK_NB) != 0 || fstat(*file, status) != 0 ||
	         lstat(path, &named) != 0 || !is_same(status, &named) ||
	         !reprise_is_from_before(status, &before) || is_of_this_run(*file);
	error = *taken ? EEXIST : reprise_output_may_replace(status) ? 0 : REPRISE_OUTPUT_NOT_OURS;
	if (error != 0)
		close(*file);
	return error;
}

/* Renames the draft to a name that is free. */
static int take_free(const char *draft, const char *path)
{
	if (renameat2(AT_FDCWD, draft, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS) /* some file systems cannot do that */
		return errno;
	if (link(draft, path) != 0)
		return errno;
	unlink(draft);
	return 0;
}

static int take_old(const char *draft, const char *path, bool *taken)
{
	struct stat status;
	int file, error = open_old(path, &file, &status, taken);

	if (error != 0)
		return error;
	chmod(draft, status.st_mode & 0777); /* keeps the user's permissions */
	error = rename(draft, path) == 0 ? 0 : errno;
	close(file);
	return error;
}

static int take(const char *draft, const char *path, bool *taken)
{
	int error = take_free(draft, path);

	return error == EEXIST ? take_old(draft, path, taken) : error;
}

/* True if the report that this process wrote last is still there. */
static bool has_mine(void)
{
	struct stat status;

	return mine.known && lstat(mine.path, &status) == 0 && status.st_dev == mine.device &&
	       status.st_ino == mine.inode;
}

/* Makes the draft the report. */
static int publish(const char *draft, const char *path, const struct stat *status)
{
	char beside[DRAFT_MOST];
	bool taken = false;
	int error;

	if (has_mine()) {
		error = rename(draft, mine.path) == 0 ? 0 : errno;
	} else {
		error = take(draft, path, &taken);
		if (taken) {
			snprintf(beside, sizeof(beside), "%s.%d", path, (int)getpid());
			path = beside;
			error = take(draft, path, &taken);
		}
		mine.known = error == 0 &&
		             snprintf(mine.path, sizeof(mine.path), "%s", path) < (int)sizeof(mine.path);
	}
	if (error == 0) {
		mine.device = status->st_dev;
		mine.inode = status->st_ino;
	}
	return error;
}

/* Removes a draft that an earlier process of the same number left behind. */
static int open_draft(const char *path)
{
	int file = open_new(path);
	struct stat status;

	if (file >= 0 || errno != EEXIST || lstat(path, &status) != 0 ||
	    !reprise_output_may_replace(&status) || unlink(path) != 0)
		return file;
	return open_new(path);
}

/* For where no draft is possible: the folder is not writable, or the name is as long as a name may
 * be. */
static int write_in_place(const char *path, int (*write)(int file, const void *what),
                          const void *what)
{
	bool taken = false;
	struct stat status;
	int file = open_new(path), error = file >= 0 ? 0 : errno;

	if (error == EEXIST || error == EACCES)
		error = open_old(path, &file, &status, &taken);
	if (error != 0)
		return error;
	error = ftruncate(file, 0) == 0 ? write(file, what) : errno;
	close(file);
	return error;
}

static int write_draft(int file, int (*write)(int file, const void *what), const void *what,
                       struct stat *status)
{
	int error;

	flock(file, LOCK_EX | LOCK_NB); /* no other process knows the file yet */
	error = write(file, what);
	return error == 0 && fstat(file, status) != 0 ? errno : error;
}

int reprise_output_write(int (*write)(int file, const void *what), const void *what, int *kept)
{
	char path[REPRISE_OUTPUT_PATH_MOST], draft[DRAFT_MOST];
	struct stat status;
	int file, error;

	if (reprise_filters_came())
		return REPRISE_OUTPUT_LOCKED_IN;
	if (!find_path(path))
		return report_pattern[0] == '\0' ? ENOENT : ENAMETOOLONG;
	if (lstat(path, &status) == 0 && !reprise_output_may_replace(&status))
		return REPRISE_OUTPUT_NOT_OURS;
	snprintf(draft, sizeof(draft), "%s.%d.part", path, (int)getpid());
	file = open_draft(draft);
	if (file < 0)
		return kept == NULL ? write_in_place(path, write, what) : errno;
	error = write_draft(file, write, what, &status);
	if (error == 0)
		error = publish(draft, path, &status);
	if (error != 0)
		unlink(draft);
	if (error == 0 && kept != NULL) {
		int last = *kept;

		*kept = file;
		file = last;
	}
	if (file >= 0)
		close(file);
	return error;
}

const char *reprise_output_words(int error, char *room, size_t size)
{
	if (error == REPRISE_OUTPUT_NOT_OURS)
		return "the file there is no plain file, is another user's, or has other names (hard links)";
	if (error == REPRISE_OUTPUT_LOCKED_IN)
		return "the program has forbidden itself system calls (seccomp)";
	return strerror_r(error, room, size);
}

/* ---- files that are written bit by bit ---- */

static bool is_locked_in(void)
{
	bool came = reprise_filters_came();

	if (came)
		errno = REPRISE_OUTPUT_LOCKED_IN;
	return came;
}

/* Makes the name absolute. False if it is too long, or the working directory is not known. */
static bool make_absolute(const char *name, char *path)
{
	size_t length = 0;

	if (name[0] != '/') {
		if (getcwd(path, REPRISE_OUTPUT_PATH_MOST - 1) == NULL)
			return false;
		length = strlen(path);
		path[length++] = '/';
	}
	return snprintf(path + length, REPRISE_OUTPUT_PATH_MOST - length, "%s", name) <
	       (int)(REPRISE_OUTPUT_PATH_MOST - length);
}

int reprise_output_make(const char *pattern, struct reprise_output_path *output)
{
	char name[PATH_MOST], beside[PATH_MOST + 32];
	struct stat status;
	int file;

	errno = ENAMETOOLONG;
	output->path[0] = '\0';
	if (!expand(pattern, name) || is_locked_in())
		return -1;
	snprintf(beside, sizeof(beside), "%s", name);
	file = open_new(beside);
	for (int tries = 0; file < 0 && errno == EEXIST && tries < TRIES_MOST &&
	                    lstat(beside, &status) == 0 && reprise_output_may_replace(&status);
	     tries++) {
		snprintf(beside, sizeof(beside), tries == 0 ? "%s.%d" : "%s.%d.%d", name, (int)getpid(),
		         tries);
		file = open_new(beside);
	}
	if (file < 0)
		return -1;
	if (fstat(file, &status) == 0 && make_absolute(beside, output->path)) {
		output->device = status.st_dev;
		output->inode = status.st_ino;
		output->beside = strcmp(beside, name) != 0;
		return file;
	}
	close(file);
	output->path[0] = '\0';
	errno = ENAMETOOLONG;
	return -1;
}

int reprise_output_again(const struct reprise_output_path *output, int flags)
{
	int file =
		is_locked_in()
			? -1
			: open(output->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	struct stat status;

	if (file >= 0 && fstat(file, &status) == 0 && status.st_dev == output->device &&
	    status.st_ino == output->inode)
		return file;
	if (file >= 0) {
		close(file);
		errno = ENOENT;
	}
	return -1;
}

int reprise_output_add(int file, const void *bytes, size_t count)
{
	int error;

	if (file < 0)
		return errno == EEXIST ? REPRISE_OUTPUT_NOT_OURS : errno;
	error = reprise_write(file, bytes, count);
	close(file);
	return error;
}
