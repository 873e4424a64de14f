/* The command `reprise`. It sets the environment and runs a program under the library, or tells if
 * that would work. LD_PRELOAD or LD_LIBRARY_PATH and the variables do the same without it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/library.h"

#define COMMANDS_MOST 16

static int refuse_command(const char *word)
{
	const char *names[COMMANDS_MOST], *nearest;
	size_t count = 0;

	while (count < reprise_command_count && count < COMMANDS_MOST) {
		names[count] = reprise_commands[count].name;
		count++;
	}
	nearest = reprise_nearest(word, names, count);
	if (nearest != NULL)
		return reprise_arguments_refuse("unknown command %s; did you mean %s?", word, nearest);
	return reprise_arguments_refuse("unknown command %s; reprise --help lists those that there are",
	                                word);
}

/* True for `help` alone after a command, unless a program or a file has that name: it
 * may be meant. */
static bool asks_for_help(char **words)
{
	char path[REPRISE_CLI_PATH_MOST];

	return words[2] != NULL && strcmp(words[2], "help") == 0 && words[3] == NULL &&
	       access("help", F_OK) != 0 && !reprise_program_find("help", path, sizeof(path));
}

int main(int count, char **words)
{
	struct reprise_arguments arguments = {0};
	const struct reprise_command *command;
	int status;

	if (count < 2) {
		reprise_command_usage(stderr, NULL);
		return 2;
	}
	if (strcmp(words[1], "--version") == 0) {
		puts("reprise " REPRISE_VERSION);
		return 0;
	}
	if (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) {
		reprise_command_usage(stdout, NULL);
		return 0;
	}
	command = reprise_command_named(words[1]);
	if (command == NULL)
		return refuse_command(words[1]);
	if (asks_for_help(words)) {
		reprise_command_usage(stdout, command);
		return 0;
	}
	status = reprise_arguments_take(command, words + 1, &arguments);
	return status >= 0 ? status : command->run(command, &arguments);
}
