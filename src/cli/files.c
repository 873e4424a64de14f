#include "cli/files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/output_check.h"

#define PATH_MOST (REPRISE_SCRATCH_MOST + 32)

struct reprise_file {
	char *name;
	bool was_there; /* it existed before the first run */
};

static const char *copy_path(const struct reprise_files *files, enum reprise_files_when when,
                             size_t i, char path[PATH_MOST])
{
	snprintf(path, PATH_MOST, "%s/%c%zu", files->folder, when, i);
	return path;
}

bool reprise_copy_rest(int from, int to, bool unless_asked)
{
	char bytes[65536];
	ssize_t got = -1; /* so it fails if the end is not reached */

	while (!(unless_asked && reprise_child_asked_to_end() != 0) &&
	       (got = read(from, bytes, sizeof(bytes))) != 0) {
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
		copied = reprise_copy_rest(source, target, false);
	if (source >= 0)
		close(source);
	if (target >= 0 && close(target) != 0)
		copied = false;
	return copied;
}

static bool is_known(const struct reprise_files *files, const char *name)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->all[i].name, name) == 0)
			return true;
	return false;
}

static bool add(struct reprise_files *files, const char *name, bool was_there)
{
	struct reprise_file *more = realloc(files->all, (files->count + 1) * sizeof(*more));
	char *copied = strdup(name);

	if (more != NULL)
		files->all = more;
	if (more == NULL || copied == NULL) {
		free(copied);
		return false;
	}
	more[files->count++] = (struct reprise_file){copied, was_there};
	return true;
}

bool reprise_files_look(struct reprise_files *files, bool before)
{
	glob_t found = {0};
	struct stat status;
	bool noted = true;

	for (size_t i = 0; i < files->glob_count; i++)
		noted =
			glob(files->globs[i], i > 0 ? GLOB_APPEND : 0, NULL, &found) != GLOB_NOSPACE && noted;
	for (size_t i = 0; i < found.gl_pathc && noted; i++)
		if (!is_known(files, found.gl_pathv[i]) && stat(found.gl_pathv[i], &status) == 0 &&
		    S_ISREG(status.st_mode))
			noted = add(files, found.gl_pathv[i], before);
	globfree(&found);
	if (!noted)
		fprintf(stderr, "reprise: out of memory for the names of the files\n");
	return noted;
}

bool reprise_files_keep(const struct reprise_files *files, enum reprise_files_when when)
{
	char path[PATH_MOST];

	for (size_t i = 0; i < files->count; i++)
		if (access(files->all[i].name, F_OK) == 0 &&
		    !copy_file(files->all[i].name, copy_path(files, when, i, path))) {
			fprintf(stderr, "reprise: cannot copy %s to %s\n", files->all[i].name, files->folder);
			return false;
		}
	return true;
}

bool reprise_files_restore(const struct reprise_files *files)
{
	char path[PATH_MOST];

	for (size_t i = 0; i < files->count; i++) {
		const struct reprise_file *file = &files->all[i];

		if (file->was_there
		        ? !copy_file(copy_path(files, REPRISE_FILES_BEFORE, i, path), file->name)
		        : unlink(file->name) != 0 && errno != ENOENT) {
			fprintf(stderr, "reprise: cannot restore %s: %s\n", file->name, strerror(errno));
			return false;
		}
	}
	return true;
}

unsigned int reprise_files_differ(const struct reprise_files *files)
{
	unsigned int different = 0;
	char first[PATH_MOST];

	for (size_t i = 0; i < files->count; i++) {
		copy_path(files, REPRISE_FILES_FIRST, i, first);
		if (access(first, F_OK) == 0 || access(files->all[i].name, F_OK) == 0)
			different += !reprise_cli_same_files(files->all[i].name, first, files->all[i].name);
	}
	return different;
}

void reprise_files_free(struct reprise_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->all[i].name);
	free(files->all);
}
