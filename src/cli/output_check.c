#include "cli/output_check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "base/text.h"

bool reprise_folder_of(const char *path, char *folder, size_t size)
{
	const char *slash = strrchr(path, '/');
	int length = slash == NULL ? snprintf(folder, size, ".")
	                           : snprintf(folder, size, "%.*s",
	                                      slash == path ? 1 : (int)(slash - path), path);

	return length > 0 && (size_t)length < size;
}

const char *reprise_output_check_folder(const char *folder)
{
	struct stat status;

	if (stat(folder, &status) != 0)
		return strerror(errno);
	if (!S_ISDIR(status.st_mode))
		return strerror(ENOTDIR);
	return access(folder, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

/* Why the existing file must not be written over; NULL if it may be. */
static const char *problem_there(const struct stat *status)
{
	if (S_ISLNK(status->st_mode))
		return "it is a link, and what that leads to is never written over";
	if (S_ISDIR(status->st_mode))
		return strerror(EISDIR);
	if (!S_ISREG(status->st_mode))
		return "it is a device or a pipe, not a plain file";
	if (status->st_uid != geteuid())
		return "the file there is another user's";
	return status->st_nlink > 1 ? "the file there has other names (hard links)" : NULL;
}

const char *reprise_output_check_file(const char *pattern)
{
	char path[PATH_MAX], folder[PATH_MAX];
	struct stat status;

	if (!reprise_expand(pattern, getpid(), path, sizeof(path)) ||
	    !reprise_folder_of(path, folder, sizeof(folder)))
		return strerror(ENAMETOOLONG);
	if (path[strlen(path) - 1] == '/')
		return strerror(EISDIR);
	if (lstat(path, &status) != 0)
		return errno == ENOENT ? reprise_output_check_folder(folder) : strerror(errno);
	if (problem_there(&status) != NULL || access(path, W_OK) == 0)
		return problem_there(&status);
	return reprise_output_check_folder(folder);
}

const char *reprise_output_check_option(enum reprise_option option, const char *value)
{
	bool file = option == REPRISE_OPTION_REPORT || option == REPRISE_OPTION_TIMELINE ||
	            option == REPRISE_OPTION_RECORD;

	if (value[0] == '\0' || (option == REPRISE_OPTION_REPORT && strcmp(value, "stderr") == 0))
		return NULL;
	if (file && strcmp(value, "-") == 0)
		return "it goes to a file, not to standard output";
	return file ? reprise_output_check_file(value)
	       : option == REPRISE_OPTION_DOT || option == REPRISE_OPTION_METRICS
	           ? reprise_output_check_folder(value)
	           : NULL;
}

/* A file without a name, or if the file system has none, one that loses its name at once. */
static int open_nameless(const char *folder)
{
	int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char path[PATH_MAX];

	if (file >= 0 ||
	    snprintf(path, sizeof(path), "%s/.reprise-XXXXXX", folder) >= (int)sizeof(path))
		return file;
	file = mkostemp(path, O_CLOEXEC);
	if (file >= 0)
		unlink(path);
	return file;
}

const char *reprise_output_check_room(const char *folder)
{
	static const char bytes[REPRISE_LAUNCHER_ROOM];
	int file = open_nameless(folder), error = file < 0 ? errno : 0;
	size_t written = 0;

	while (error == 0 && written < REPRISE_LAUNCHER_ROOM) {
		ssize_t more = write(file, bytes + written, REPRISE_LAUNCHER_ROOM - written);

		error = more > 0 ? 0 : more == 0 ? ENOSPC : errno == EINTR ? 0 : errno;
		written += more > 0 ? (size_t)more : 0;
	}
	if (file >= 0 && close(file) != 0 && error == 0)
		error = errno;
	return error != 0 ? strerror(error) : NULL;
}

bool reprise_scratch_make(char folder[REPRISE_SCRATCH_MOST])
{
	const char *temporary = getenv("TMPDIR");
	const char *const places[] = {temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp",
	                              "/tmp"};
	char place[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		/* Absolute: the program may change its working directory. */
		if (realpath(places[i], place) == NULL)
			continue;
		if (snprintf(folder, REPRISE_SCRATCH_MOST, "%s/reprise-XXXXXX", place) >=
		    REPRISE_SCRATCH_MOST)
			errno = ENAMETOOLONG;
		else if (mkdtemp(folder) != NULL)
			return true;
	}
	return false;
}

void reprise_scratch_remove(const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int)sizeof(path))
			unlink(path);
	if (directory != NULL)
		closedir(directory);
	rmdir(folder);
}
