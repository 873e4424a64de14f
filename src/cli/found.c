#include "cli/found.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/summary.h"

#define NUMBER "[0-9]*"

/* The pattern for glob(7); NULL if there is no memory. It matches too much: glob cannot ask for the
 * same number twice. */
static char *as_glob(const char *pattern, const char *behind)
{
	char *text = malloc(strlen(pattern) * sizeof(NUMBER) + strlen(behind) + 1), *to = text;

	for (const char *at = pattern; text != NULL && *at != '\0'; at++) {
		if (strncmp(at, "%p", 2) == 0) {
			to = stpcpy(to, NUMBER);
			at++;
		} else {
			if (strchr("*?[]\\", *at) != NULL)
				*to++ = '\\';
			*to++ = *at;
		}
	}
	return text != NULL ? (strcpy(to, behind), text) : NULL;
}

/* True if the path is the process's own, or that with a process id behind it. */
static bool is_name_of(const char *path, const char *pattern, long process)
{
	char own[PATH_MAX];
	size_t length;

	if (!reprise_expand(pattern, (pid_t)process, own, sizeof(own)))
		return false;
	length = strlen(own);
	return strncmp(path, own, length) == 0 &&
	       (path[length] == '\0' ||
	        (path[length] == '.' && path[length + 1] != '\0' &&
	         path[length + 1 + strspn(path + length + 1, "0123456789")] == '\0'));
}

static bool matches(const char *path, const char *pattern)
{
	const char *mark = strstr(pattern, "%p");
	long process = 0;

	if (mark == NULL)
		return is_name_of(path, pattern, 0);
	for (const char *digit = path + (mark - pattern);
	     *digit >= '0' && *digit <= '9' && process <= INT_MAX / 10; digit++) {
		process = process * 10 + (*digit - '0');
		if (is_name_of(path, pattern, process))
			return true;
	}
	return false;
}

static void note_unusable(struct reprise_found *found, const char *path)
{
	if (found->unusable == NULL)
		found->unusable = strdup(path);
}

static bool is_noted(const struct reprise_found *found, const char *path)
{
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->paths[i], path) == 0)
			return true;
	return false;
}

static void note(struct reprise_found *found, const char *path, const char *mark)
{
	struct reprise_summary alone = {0};
	char *report = reprise_summary_read(path), **more;

	if (report != NULL && reprise_summary_is_of(report, mark)) {
		if (!reprise_summary_add(&alone, report))
			note_unusable(found, path);
		else if ((more = realloc(found->paths, (found->count + 1) * sizeof(*more))) != NULL) {
			found->paths = more;
			if ((more[found->count] = strdup(path)) != NULL)
				found->count++;
		}
	}
	free(report);
}

void reprise_found_look(struct reprise_found *found, const char *pattern, const char *mark)
{
	static const char *const behind[] = {"", "." NUMBER};
	glob_t there = {0};
	bool any = false;

	*found = (struct reprise_found){0};
	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		char *text = as_glob(pattern, behind[i]);

		any = (text != NULL && glob(text, any ? GLOB_APPEND : 0, NULL, &there) == 0) || any;
		free(text);
	}
	for (size_t i = 0; any && i < there.gl_pathc; i++)
		if (matches(there.gl_pathv[i], pattern) && !is_noted(found, there.gl_pathv[i]))
			note(found, there.gl_pathv[i], mark);
	if (any)
		globfree(&there);
}

void reprise_found_free(struct reprise_found *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->paths[i]);
	free(found->paths);
	free(found->unusable);
}
