#include "cli/reports.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/library.h"

/* ---- finding them ---- */

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

/* ---- showing them ---- */

/* Isolated (-I) from the user's Python settings; writes no compiled files (-B). */
static bool become_reader(char **words)
{
	char folder[REPRISE_CLI_PATH_MOST];
	char *begin[] = {"python3", "-I", "-B", folder};
	size_t count = 0;
	char **line;

	while (words[count] != NULL)
		count++;
	line = calloc(count + 5, sizeof(*line));
	if (line == NULL)
		return false;
	memcpy(line, begin, sizeof(begin));
	memcpy(line + 4, words, count * sizeof(*words));
	if (!reprise_cli_find_reader(folder)) {
		fprintf(
			stderr,
			"reprise: the reader of reports was not found beside this command nor in " REPRISE_DATADIR
			"/reprise\n");
		return false;
	}
	execvp(line[0], line);
	free(line);
	fprintf(stderr,
	        "reprise: reports are shown by python3, which is not here; they are plain JSON\n");
	return false;
}

int reprise_cli_report(char **words)
{
	become_reader(words);
	return 127;
}

/* `options` ends with NULL. */
static bool run_reader(char *const *options, char *const *paths, size_t count)
{
	size_t before = 0;
	char **words;
	int status;
	pid_t reader;

	while (options[before] != NULL)
		before++;
	words = calloc(before + count + 1, sizeof(*words));
	if (words == NULL)
		return false;
	memcpy(words, options, before * sizeof(*words));
	memcpy(words + before, paths, count * sizeof(*words));
	reader = fork();
	if (reader == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout belongs to the program */
		become_reader(words);
		_exit(127);
	}
	free(words);
	return reader > 0 && waitpid(reader, &status, 0) == reader && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

bool reprise_cli_report_run(char *const *paths, size_t count)
{
	return run_reader((char *[]){"--", NULL}, paths, count);
}

void reprise_cli_report_page(char *const *paths, size_t count, const char *html, bool open,
                             bool quiet)
{
	char *options[6];
	size_t last = 0;

	if (html != NULL) {
		options[last++] = "--html";
		options[last++] = (char *)html;
	}
	if (open)
		options[last++] = "--open";
	if (quiet)
		options[last++] = "--quiet";
	options[last++] = "--";
	options[last] = NULL;
	run_reader(options, paths, count);
}
