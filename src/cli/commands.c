#include "cli/commands.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "control/peer.h"
#include "cli/arguments.h"

/* ---- the commands ---- */

static void set_mode(const struct reprise_command *command, const char *mode)
{
	char by[32];

	snprintf(by, sizeof(by), "reprise %s", command->name);
	reprise_given_set(REPRISE_OPTION_MODE, mode, by);
	reprise_given_look();
}

static int run(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	const char *mode = command->has == REPRISE_HAVING_OBSERVE ? "observe"
	                   : arguments->given[REPRISE_OWN_VERIFY] ? "verify"
	                                                          : "on";

	if (arguments->given[REPRISE_OWN_PROGRESS])
		reprise_given_set(REPRISE_OPTION_CONTROL, "1", "--progress");
	set_mode(command, mode);
	return reprise_cli_run(arguments->rest, mode, arguments->given[REPRISE_OWN_STAND_IN],
	                       arguments->given[REPRISE_OWN_PROGRESS]);
}

static int verify(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	set_mode(command, "on");
	if (strcmp(reprise_option_text(REPRISE_OPTION_REPORT), "stderr") == 0)
		return reprise_arguments_refuse(
			"verify: a report on stderr would be a difference: it may go to a file");
	if (reprise_option(REPRISE_OPTION_LOG) > REPRISE_LOG_WARNING)
		return reprise_arguments_refuse(
			"verify: info and debug on stderr would be differences: the log may be silent or warning");
	return reprise_cli_twice(arguments->rest, arguments->globs, arguments->glob_count,
	                         arguments->given[REPRISE_OWN_STAND_IN]);
}

static int report(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	char **words = calloc(arguments->rest_count + 4, sizeof(*words));
	size_t count = 0;

	if (arguments->rest_count == 0)
		return reprise_arguments_refuse("report needs a report: reprise report %s",
		                                command->arguments);
	if (arguments->html != NULL && arguments->given[REPRISE_OWN_JSON])
		return reprise_arguments_refuse("--json and --html cannot both be had");
	if (words == NULL)
		return reprise_arguments_refuse("there is no memory");
	if (arguments->given[REPRISE_OWN_JSON])
		words[count++] = "--json";
	if (arguments->html != NULL) {
		words[count++] = "--html";
		words[count++] = (char *)arguments->html;
	}
	words[count++] = "--";
	memcpy(words + count, arguments->rest, arguments->rest_count * sizeof(*words));
	reprise_options_read(); /* also reports what is wrong with them */
	return reprise_cli_report(words);
}

static int doctor(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	if (arguments->rest_count > 1)
		return reprise_arguments_refuse(
			"doctor looks at one program, without its arguments: reprise doctor %s",
			arguments->rest[0]);
	(void)command;
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

static int help(const struct reprise_command *command, const struct reprise_arguments *arguments)
{
	const struct reprise_command *named =
		arguments->rest_count > 0 ? reprise_command_named(arguments->rest[0]) : NULL;

	(void)command;
	if (arguments->rest_count > 1 || (arguments->rest_count == 1 && named == NULL))
		return reprise_arguments_refuse("help knows no command %s",
		                                arguments->rest[arguments->rest_count - 1]);
	reprise_command_usage(stdout, named);
	return 0;
}

#define PROGRAM "[options] -- PROGRAM [ARGUMENT ...]"

const struct reprise_command reprise_commands[] = {
	{"run", PROGRAM, "replay what repeats from CUDA graphs", REPRISE_HAVING_RUN, run},
	{"observe", PROGRAM, "change nothing; tell what repeats", REPRISE_HAVING_OBSERVE, run},
	{"report", "FILE|FOLDER ... [--json | --html FILE]",
     "show what reports tell (--report of run and observe)", REPRISE_HAVING_REPORT, report},
	{"doctor", "[PROGRAM]", "tell what is here, and whether the program can be run so",
     REPRISE_HAVING_NOTHING, doctor},
	{"verify", PROGRAM, "run it without Reprise and with it; tell what differs",
     REPRISE_HAVING_VERIFY, verify},
	{"ctl", "PID on|off|report", "of a process that runs with --control", REPRISE_HAVING_NOTHING,
     ctl},
	{"help", "[COMMAND]", "say all this, or what a command takes", REPRISE_HAVING_NOTHING, help},
};
const size_t reprise_command_count = sizeof(reprise_commands) / sizeof(reprise_commands[0]);

const struct reprise_command *reprise_command_named(const char *name)
{
	for (size_t i = 0; i < reprise_command_count; i++)
		if (strcmp(reprise_commands[i].name, name) == 0)
			return &reprise_commands[i];
	return NULL;
}

/* ---- help, which completion reads too (share/completions) ---- */

static void tell_command(FILE *to, const struct reprise_command *command, bool first)
{
	char line[128];

	snprintf(line, sizeof(line), "reprise %s %s", command->name, command->arguments);
	fprintf(to, "%s %-53s  %s\n", first ? "usage:" : "      ", line, command->help);
}

static void tell_own_option(FILE *to, const struct reprise_own_row *row, bool all)
{
	char name[64], of[64] = "";

	snprintf(name, sizeof(name), "--%s%s%s", row->name, row->takes != NULL ? " " : "",
	         row->takes != NULL ? row->takes : "");
	for (size_t i = 0; all && row->having != REPRISE_HAVING_PROGRAM && i < reprise_command_count;
	     i++)
		if (reprise_commands[i].has == row->having)
			snprintf(of, sizeof(of), "of %s: ", reprise_commands[i].name);
	fprintf(to, "  %-15s %s%s\n", name, of, row->help);
}

static void tell_library_option(FILE *to, unsigned int option)
{
	const struct reprise_option_row *row = &reprise_option_rows[option];

	fprintf(to, "  --%-13s %s", reprise_option_name(option), row->help);
	if (row->kind == REPRISE_OPTION_NUMBER)
		fprintf(to, " (%llu; %llu to %llu)", (unsigned long long)row->standard,
		        (unsigned long long)row->least, (unsigned long long)row->greatest);
	else if (row->words[0] != '\0')
		fprintf(to, " (%s)", row->words);
	fprintf(to, " [%s]\n", row->variable);
}

static void tell_words(FILE *to)
{
	static const char *const words[][2] = {
#define X(name, word, help) {word, help},
		REPRISE_CONTROL_WORDS(X)
#undef X
	};

	fputs("\nwords:\n", to);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		fprintf(to, "  %-15s %s\n", words[i][0], words[i][1]);
}

void reprise_command_usage(FILE *to, const struct reprise_command *command)
{
	unsigned int has = command != NULL ? command->has : ~0u;

	for (size_t i = 0; i < reprise_command_count; i++)
		if (command == NULL || command == &reprise_commands[i])
			tell_command(to, &reprise_commands[i], command != NULL || i == 0);
	fputs("\noptions:\n", to);
	for (int i = 0; i < REPRISE_OWN_COUNT; i++)
		if ((has & reprise_own_rows[i].having) != 0)
			tell_own_option(to, &reprise_own_rows[i], command == NULL);
	for (unsigned int i = 1; i < REPRISE_OPTION_COUNT; i++)
		if ((has & reprise_option_having(i)) != 0)
			tell_library_option(to, i);
	fputs("  --help          say this; of a command: what it takes\n"
	      "  --version       say which version this is\n",
	      to);
	if (command != NULL && command->run == ctl)
		tell_words(to);
}
