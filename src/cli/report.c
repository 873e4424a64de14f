#include "cli/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/library.h"

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

bool reprise_cli_report_run(char *const *paths, size_t count)
{
	char **words = calloc(count + 1, sizeof(*words));
	int status;
	pid_t reader;

	if (words == NULL)
		return false;
	memcpy(words, paths, count * sizeof(*words));
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
