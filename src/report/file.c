#include "file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/before.h"
#include "../base/expand.h"

#define PATH_MOST 600
#define TRIES_MOST 10

static struct reprise_before before; /* this process began to be reported on */

static bool expand(const char *pattern, char *path)
{
	return reprise_expand(pattern, getpid(), path, PATH_MOST);
}

void reprise_report_file_begin(const char *pattern)
{
	char path[PATH_MOST];

	reprise_before_note(&before, expand(pattern, path) ? path : NULL);
}

static int open_new(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
}

static bool is_ours(const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() && status->st_nlink == 1;
}

/*
 * What is not a file of ours is not even opened, which alone can do something to a device. Under the file's lock the second look is final.
 * *taken: the file is of this run, another process's.
 */
static int open_old(const char *path, bool *taken)
{
	struct stat status;
	int file;

	if (lstat(path, &status) != 0 || !is_ours(&status))
		return -1;
	file = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file < 0)
		return -1;
	*taken = flock(file, LOCK_EX | LOCK_NB) != 0 || fstat(file, &status) != 0 || !reprise_is_from_before(&status, &before);
	if (!*taken && is_ours(&status) && ftruncate(file, 0) == 0)
		return file;
	close(file);
	return -1;
}

int reprise_report_file_open(const char *pattern)
{
	char path[PATH_MOST], beside[PATH_MOST + 16];
	bool taken = false;
	int file;

	if (!expand(pattern, path))
		return -1;
	file = open_new(path);
	if (file < 0)
		file = open_old(path, &taken);
	if (taken) {
		snprintf(beside, sizeof(beside), "%s.%d", path, (int)getpid());
		file = open_new(beside);
	}
	return file;
}

/* The name as seen from anywhere. False if it is too long, or if nobody knows where this is. */
static bool make_absolute(const char *name, char *path)
{
	size_t length = 0;

	if (name[0] != '/') {
		if (getcwd(path, REPRISE_REPORT_PATH_MOST - 1) == NULL)
			return false;
		length = strlen(path);
		path[length++] = '/';
	}
	return snprintf(path + length, REPRISE_REPORT_PATH_MOST - length, "%s", name) < (int)(REPRISE_REPORT_PATH_MOST - length);
}

int reprise_report_file_make(const char *pattern, struct reprise_report_place *place)
{
	char name[PATH_MOST], beside[PATH_MOST + 32];
	struct stat status;
	int file;

	if (!expand(pattern, name))
		return -1;
	snprintf(beside, sizeof(beside), "%s", name);
	file = open_new(beside);
	for (int tries = 0; file < 0 && tries < TRIES_MOST && lstat(beside, &status) == 0 && is_ours(&status); tries++) {
		snprintf(beside, sizeof(beside), tries == 0 ? "%s.%d" : "%s.%d.%d", name, (int)getpid(), tries);
		file = open_new(beside);
	}
	if (file < 0)
		return -1;
	if (fstat(file, &status) == 0 && make_absolute(beside, place->path)) {
		place->device = status.st_dev;
		place->inode = status.st_ino;
		return file;
	}
	close(file);
	return -1;
}

int reprise_report_file_again(const struct reprise_report_place *place, int flags)
{
	int file = open(place->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	struct stat status;

	if (file >= 0 && fstat(file, &status) == 0 && status.st_dev == place->device && status.st_ino == place->inode)
		return file;
	if (file >= 0)
		close(file);
	return -1;
}
