/* The command `reprise`. It sets the environment and runs a program under the library, or tells if
 * that would work. LD_PRELOAD or LD_LIBRARY_PATH and the variables do the same without it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/library.h"
#include "cli/output_check.h"

#define COMMANDS_MOST 16
#define REPORT_WORDS_MOST 8 /* before the reports, and NULL after them */

/* ---- what the commands do ---- */

static void set_mode(const struct reprise_command *command, const char *mode)
{
	char by[32];

	snprintf(by, sizeof(by), "reprise %s", command->name);
	reprise_given_set(REPRISE_OPTION_MODE, mode, by);
	reprise_given_look();
}

/* Returns -1, or the exit status: before a program runs for long, and its page cannot be had. */
static int check_page(const struct reprise_arguments *arguments)
{
	const char *problem;

	if (arguments->html == NULL)
		return -1;
	problem = reprise_output_check_file(arguments->html);
	return problem != NULL ? reprise_arguments_refuse("--html: cannot write to %s: %s",
	                                                  arguments->html, problem)
	                       : -1;
}

static int run(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	const char *mode = command->has == REPRISE_HAVING_OBSERVE ? "observe"
	                   : arguments->given[REPRISE_OWN_VERIFY] ? "verify"
	                                                          : "on";

	const struct reprise_run_wish wish = {
		.stand_in = arguments->given[REPRISE_OWN_STAND_IN],
		.progress = arguments->given[REPRISE_OWN_PROGRESS],
		.quiet = arguments->given[REPRISE_OWN_QUIET],
		.require = arguments->require,
		.html = arguments->html,
		.open = arguments->given[REPRISE_OWN_OPEN],
	};
	const char *variable;
	int status = check_page(arguments);

	if (status >= 0)
		return status;
	if (wish.quiet && wish.progress)
		return reprise_arguments_refuse("--quiet and --progress exclude each other");
	if (wish.progress)
		reprise_given_set(REPRISE_OPTION_CONTROL, "1", "--progress");
	if (wish.quiet && reprise_option_environment(REPRISE_OPTION_LOG, &variable) == NULL)
		reprise_given_set(REPRISE_OPTION_LOG, "silent", "--quiet");
	set_mode(command, mode);
	return reprise_cli_run(arguments->rest, mode, &wish);
}

/* For a command that compares what runs print. Returns -1, or the exit status. */
static int set_comparing_mode(const struct reprise_command *command)
{
	set_mode(command, "on");
	if (strcmp(reprise_option_text(REPRISE_OPTION_REPORT), "stderr") == 0)
		return reprise_arguments_refuse(
			"%s: its verdict is on stdout, with no line on stderr: a report may go to a file",
			command->name);
	if (reprise_option(REPRISE_OPTION_LOG) > REPRISE_LOG_WARNING)
		return reprise_arguments_refuse(
			"%s: info and debug on stderr would be differences: the log may be silent or warning",
			command->name);
	return -1;
}

static int bench(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	int status = set_comparing_mode(command);

	return status >= 0 ? status
	                   : reprise_cli_bench(arguments->rest, &arguments->wish,
	                                       arguments->given[REPRISE_OWN_STAND_IN]);
}

static int verify(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	int status = set_comparing_mode(command);

	if (status >= 0)
		return status;
	return reprise_cli_twice(arguments->rest, arguments->globs, arguments->glob_count,
	                         arguments->given[REPRISE_OWN_STAND_IN]);
}

static int report(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	char **words = calloc(arguments->rest_count + REPORT_WORDS_MOST, sizeof(*words));
	size_t count = 0;

	if (arguments->rest_count == 0)
		return reprise_arguments_refuse("report needs a report: reprise report %s",
		                                command->arguments);
	if (arguments->html != NULL && arguments->given[REPRISE_OWN_JSON])
		return reprise_arguments_refuse("--json and --html exclude each other");
	if (arguments->given[REPRISE_OWN_OPEN] && arguments->given[REPRISE_OWN_JSON])
		return reprise_arguments_refuse("--json and --open exclude each other");
	if (arguments->given[REPRISE_OWN_COMPARE] && arguments->rest_count != 2)
		return reprise_arguments_refuse(
			"--compare takes two reports or folders, the earlier one first");
	if (arguments->given[REPRISE_OWN_COMPARE] && arguments->given[REPRISE_OWN_JSON])
		return reprise_arguments_refuse("--json and --compare exclude each other");
	if (words == NULL)
		return reprise_arguments_refuse("out of memory");
	if (arguments->given[REPRISE_OWN_JSON])
		words[count++] = "--json";
	if (arguments->given[REPRISE_OWN_COMPARE])
		words[count++] = "--compare";
	if (arguments->given[REPRISE_OWN_OPEN])
		words[count++] = "--open";
	if (arguments->html != NULL) {
		words[count++] = "--html";
		words[count++] = (char *)arguments->html;
	}
	words[count++] = "--";
	memcpy(words + count, arguments->rest, arguments->rest_count * sizeof(*words));
	reprise_options_read(); /* also reports what is wrong with them */
	return reprise_cli_report(words);
}

static int doctor(const struct reprise_arguments *arguments)
{
	if (arguments->rest_count > 1)
		return reprise_arguments_refuse(
			"doctor looks at one program, without its arguments: reprise doctor %s",
			arguments->rest[0]);
	return reprise_cli_doctor(arguments->rest_count > 0 ? arguments->rest[0] : NULL);
}

static int ctl(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	if (arguments->rest_count != 2)
		return reprise_arguments_refuse("ctl needs a process and a word: reprise ctl %s",
		                                command->arguments);
	reprise_options_read();
	return reprise_cli_control(arguments->rest[0], arguments->rest[1]);
}

static int top(const struct reprise_arguments *arguments)
{
	if (arguments->rest_count > 0)
		return reprise_arguments_refuse(
			"top takes no words: it shows all processes that accept control");
	reprise_options_read();
	return reprise_cli_top(arguments->given[REPRISE_OWN_ONCE]);
}

static int help(const struct reprise_arguments *arguments)
{
	const struct reprise_command *named =
		arguments->rest_count > 0 ? reprise_command_named(arguments->rest[0]) : NULL;

	if (arguments->rest_count > 1 || (arguments->rest_count == 1 && named == NULL))
		return reprise_arguments_refuse("help knows no command %s",
		                                arguments->rest[arguments->rest_count - 1]);
	reprise_command_usage(stdout, named);
	return 0;
}

static int act(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	switch (command->id) {
	case REPRISE_COMMAND_RUN:
	case REPRISE_COMMAND_OBSERVE:
		return run(command, arguments);
	case REPRISE_COMMAND_REPORT:
		return report(command, arguments);
	case REPRISE_COMMAND_DOCTOR:
		return doctor(arguments);
	case REPRISE_COMMAND_VERIFY:
		return verify(command, arguments);
	case REPRISE_COMMAND_BENCH:
		return bench(command, arguments);
	case REPRISE_COMMAND_CTL:
		return ctl(command, arguments);
	case REPRISE_COMMAND_TOP:
		return top(arguments);
	case REPRISE_COMMAND_HELP:
		break;
	}
	return help(arguments);
}

/* ---- which command is meant ---- */

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
	if (arguments.help) {
		reprise_command_usage(stdout, command);
		return 0;
	}
	return status >= 0 ? status : act(command, &arguments);
}
