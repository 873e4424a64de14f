#include "report.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library.h"

#define WORDS_MOST 4096

/* Isolated from what the environment and the user have for their own Python programs; leaves no compiled files. */
static bool become_reader(char **words)
{
	char folder[REPRISE_CLI_PATH_MOST];
	char *line[WORDS_MOST] = {"python3", "-I", "-B", folder};

	if (!reprise_cli_find_reader(folder)) {
		fprintf(stderr, "reprise: the reader of reports was not found beside this command nor in " REPRISE_DATADIR "/reprise\n");
		return false;
	}
	for (size_t i = 0; words[i] != NULL && i < WORDS_MOST - 5; i++)
		line[4 + i] = words[i];
	execvp(line[0], line);
	fprintf(stderr, "reprise: reports are shown by python3, which is not here; they are plain JSON\n");
	return false;
}

int reprise_cli_report(char **words)
{
	become_reader(words);
	return 127;
}

bool reprise_cli_report_run(const char *path)
{
	char *words[] = {(char *)path, NULL};
	int status;
	pid_t reader = fork();

	if (reader == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is the program's */
		become_reader(words);
		_exit(127);
	}
	return reader > 0 && waitpid(reader, &status, 0) == reader && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
