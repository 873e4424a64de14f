/*
 * reprise: the command. Sets the environment and runs a program under the library, or tells whether that would work; what it runs can
 * be run with LD_PRELOAD or LD_LIBRARY_PATH and the variables alone.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/options.h"
#include "control.h"
#include "doctor.h"
#include "report.h"
#include "run.h"
#include "twice.h"

/* --name of an option: its variable without "REPRISE_", in small letters, with hyphens; the mode is the command's own name. */
static const char *option_name(unsigned int option)
{
	static char name[64];
	size_t i = 0;

	for (const char *at = reprise_option_rows[option].variable + strlen("REPRISE_"); *at != '\0' && i < sizeof(name) - 1; at++)
		name[i++] = *at == '_' ? '-' : (char)tolower(*at);
	name[i] = '\0';
	return name;
}

static void usage(FILE *to)
{
	fprintf(to, "usage: reprise run [options] -- PROGRAM [ARGUMENT ...]      replay what repeats from CUDA graphs\n"
	            "       reprise observe [options] -- PROGRAM [ARGUMENT ...]  change nothing; tell what repeats\n"
	            "       reprise report FILE|FOLDER ... [--json | --html FILE]  show what reports tell (--report of run and observe)\n"
	            "       reprise doctor [PROGRAM]                             tell what is here, and whether the program can be run so\n"
	            "       reprise verify [options] -- PROGRAM [ARGUMENT ...]   run it without Reprise and with it; tell what differs\n"
	            "       reprise ctl PID on|off|report                        of a process that runs with --control\n"
	            "\noptions:\n"
	            "  --stand-in   be libcuda.so.1 instead of being preloaded: for what is opened with RTLD_DEEPBIND or dlmopen\n"
	            "  --verify     of run: compare every node before its graph is launched, and wait after it\n"
	            "  --files GLOB of verify, as often as you like: files to compare, too\n"
	            "  --progress   of run: a line on the terminal while the program runs: what is replayed, and the memory it takes\n");
	for (unsigned int i = 1; i < REPRISE_OPTION_COUNT; i++) {
		const struct reprise_option_row *row = &reprise_option_rows[i];

		fprintf(to, "  --%-10s %s", option_name(i), row->help);
		if (row->kind == REPRISE_OPTION_NUMBER)
			fprintf(to, " (%llu; %llu to %llu)", (unsigned long long)row->standard, (unsigned long long)row->least,
			        (unsigned long long)row->greatest);
		else if (row->words[0] != '\0')
			fprintf(to, " (%s)", row->words);
		fprintf(to, " [%s]\n", row->variable);
	}
}

static bool is_switch(const struct reprise_option_row *row)
{
	return strcmp(row->words, "0|1") == 0;
}

/* What this command does itself. */
struct choices {
	int stand_in, progress, verify;
	char **globs;
	size_t glob_count;
};

static void add_glob(struct choices *choices, char *glob)
{
	char **more = realloc(choices->globs, (choices->glob_count + 1) * sizeof(*more));

	if (more == NULL)
		return;
	more[choices->glob_count++] = glob;
	choices->globs = more;
}

/* Puts the options into the environment. Returns the index of the program's name, or 0. */
static int take_options(int count, char **words, struct choices *choices)
{
	struct option options[REPRISE_OPTION_COUNT + 4] = {
		{"stand-in", no_argument, &choices->stand_in, 1},
		{"progress", no_argument, &choices->progress, 1},
		{"verify", no_argument, &choices->verify, 1},
		{"files", required_argument, NULL, REPRISE_OPTION_COUNT},
	};
	int option;

	for (unsigned int i = 1; i < REPRISE_OPTION_COUNT; i++)
		options[i + 3] = (struct option){strdup(option_name(i)), is_switch(&reprise_option_rows[i]) ? no_argument : required_argument, NULL, (int)i};
	while ((option = getopt_long(count, words, "+", options, NULL)) != -1) {
		if (option == '?')
			return 0;
		if (option == REPRISE_OPTION_COUNT)
			add_glob(choices, optarg);
		else if (option > 0)
			setenv(reprise_option_rows[option].variable, optarg != NULL ? optarg : "1", 1);
	}
	return optind < count ? optind : 0;
}

static bool starts_a_program(const char *command)
{
	return strcmp(command, "run") == 0 || strcmp(command, "observe") == 0 || strcmp(command, "verify") == 0;
}

int main(int count, char **words)
{
	const char *command = count < 2 ? "" : words[1];
	struct choices choices = {0};
	int program;

	if (strcmp(command, "--help") == 0 && count == 2) {
		usage(stdout);
		return 0;
	}
	if (strcmp(command, "report") == 0 && count > 2)
		return reprise_cli_report(words + 2);
	if (strcmp(command, "doctor") == 0 && count <= 3)
		return reprise_cli_doctor(words[2]);
	if (strcmp(command, "ctl") == 0 && count == 4)
		return reprise_cli_control(words[2], words[3]);
	program = starts_a_program(command) ? take_options(count - 1, words + 1, &choices) : 0;
	if (program == 0) {
		usage(stderr);
		return 2;
	}
	words += 1 + program;
	if (strcmp(command, "verify") == 0)
		return reprise_cli_twice(words, choices.globs, choices.glob_count, choices.stand_in != 0);
	return reprise_cli_run(words, strcmp(command, "observe") == 0 ? "observe" : choices.verify ? "verify" : "on", choices.stand_in != 0,
	                       choices.progress != 0);
}
