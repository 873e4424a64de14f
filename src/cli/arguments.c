#include "cli/arguments.h"

#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "cli/output_check.h"
#include "cli/paired.h"

#define OWN_FIRST 256 /* after the library's options and all letters */
#define HELP (OWN_FIRST + REPRISE_OWN_COUNT)
#define VERSION (HELP + 1)
#define OLD_FIRST (VERSION + 1) /* the library's options by their old names */
#define SECONDS_MOST 1000000
#define ALL_MOST (2 * REPRISE_OPTION_COUNT + REPRISE_OWN_COUNT + 2)

const struct reprise_own_row reprise_own_rows[REPRISE_OWN_COUNT] = {
#define X(option, name, takes, having, help) [REPRISE_OWN_##option] = {name, takes, having, help},
	REPRISE_OWN_OPTIONS(X)
#undef X
};

int reprise_arguments_refuse(const char *format, ...)
{
	va_list arguments;

	fputs("reprise: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return 2;
}

static const char *name_by(const char *variable)
{
	static char name[64];
	size_t i = 0;

	for (const char *at = variable + strlen("REPRISE_"); *at != '\0' && i < sizeof(name) - 1; at++)
		name[i++] = *at == '_' ? '-' : (char)tolower(*at);
	name[i] = '\0';
	return name;
}

const char *reprise_option_name(unsigned int option)
{
	return name_by(reprise_option_rows[option].variable);
}

/* True for an option of the library that takes no word, or 0 or 1. */
static bool is_switch(unsigned int option)
{
	return strcmp(reprise_option_rows[option].words, "0|1") == 0;
}

unsigned int reprise_option_having(unsigned int option)
{
	return option == REPRISE_OPTION_DOT || option == REPRISE_OPTION_SUBMIT ||
	               option == REPRISE_OPTION_PAYS
	           ? REPRISE_HAVING_RUN | REPRISE_HAVING_VERIFY | REPRISE_HAVING_BENCH
	       : option == REPRISE_OPTION_TURNS ? REPRISE_HAVING_RUN | REPRISE_HAVING_BENCH
	                                        : REPRISE_HAVING_PROGRAM;
}

/* ---- the options of a command ---- */

/* The table for getopt_long(3), with the options of all commands, so that an option of another
 * command is recognised. Lives as long as the process. */
static const struct option *all_options(void)
{
	static struct option options[ALL_MOST + 1];
	size_t count = 0;

	if (options[0].name != NULL)
		return options;
	/* Option 0 is the mode, which the command's name says. */
	for (unsigned int i = 1; i < REPRISE_OPTION_COUNT; i++)
		options[count++] =
			(struct option){strdup(reprise_option_name(i)),
		                    is_switch(i) ? optional_argument : required_argument, NULL, (int)i};
	for (int i = 0; i < REPRISE_OWN_COUNT; i++)
		options[count++] =
			(struct option){reprise_own_rows[i].name,
		                    reprise_own_rows[i].takes != NULL ? required_argument : no_argument,
		                    NULL, OWN_FIRST + i};
	for (unsigned int i = 1; i < REPRISE_OPTION_COUNT; i++)
		if (reprise_option_old_name(i) != NULL)
			options[count++] = (struct option){strdup(name_by(reprise_option_old_name(i))),
			                                   required_argument, NULL, OLD_FIRST + (int)i};
	options[count++] = (struct option){"help", no_argument, NULL, HELP};
	options[count++] = (struct option){"version", no_argument, NULL, VERSION};
	return options;
}

/* The library's option that has this value in the table. */
static unsigned int library_option(int value)
{
	return (unsigned int)(value >= OLD_FIRST ? value - OLD_FIRST : value);
}

static bool has_option(const struct reprise_command *command, int value)
{
	if (value >= OLD_FIRST)
		return has_option(command, value - OLD_FIRST);
	if (value >= HELP || value == 'h')
		return true;
	return (command->has & (value >= OWN_FIRST ? reprise_own_rows[value - OWN_FIRST].having
	                                           : reprise_option_having((unsigned int)value))) != 0;
}

static const char *long_name(int value)
{
	const struct option *option = all_options();

	while (option->name != NULL && option->val != value)
		option++;
	return option->name;
}

/* ---- refusals ---- */

/* The names of the commands that have the option. */
static const char *owners(int value, char text[128])
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < reprise_command_count; i++)
		if (has_option(&reprise_commands[i], value))
			length += (size_t)snprintf(text + length, 128 - length, "%s%s", length > 0 ? ", " : "",
			                           reprise_commands[i].name);
	return text;
}

static int refuse_unknown(const struct reprise_command *command, const char *word)
{
	const char *names[ALL_MOST], *nearest;
	char name[64];
	size_t count = 0;

	for (const struct option *option = all_options(); option->name != NULL; option++)
		if (option->val < OLD_FIRST && has_option(command, option->val))
			names[count++] = option->name;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	nearest = strncmp(name, "--", 2) == 0 ? reprise_nearest(name + 2, names, count) : NULL;
	if (nearest != NULL)
		return reprise_arguments_refuse("%s has no option %s; did you mean --%s?", command->name,
		                                name, nearest);
	return reprise_arguments_refuse(
		"%s has no option %s; reprise %s --help lists those that it has", command->name, name,
		command->name);
}

static int refuse_missing(int value)
{
	char text[256];

	if (value >= OWN_FIRST && value < HELP)
		return reprise_arguments_refuse("--%s needs a value: %s", long_name(value),
		                                reprise_own_rows[value - OWN_FIRST].takes);
	return reprise_arguments_refuse("--%s needs a value: %s", long_name(value),
	                                reprise_option_range(library_option(value), text,
	                                                     sizeof(text)));
}

/* The word of the option that is nearest to `value`; NULL if none is near. */
static const char *nearest_word(const struct reprise_option_row *row, const char *value)
{
	static char words[128];
	const char *each[16];
	char *rest = words;
	size_t count = 0;

	if (row->kind != REPRISE_OPTION_WORD)
		return NULL;
	snprintf(words, sizeof(words), "%s", row->words);
	for (const char *word = strsep(&rest, "|");
	     word != NULL && count < sizeof(each) / sizeof(each[0]); word = strsep(&rest, "|"))
		each[count++] = word;
	return reprise_nearest(value, each, count);
}

/* `found` as in all_options(). */
static int refuse_value(int found, const char *value)
{
	unsigned int option = library_option(found);
	const char *meant = nearest_word(&reprise_option_rows[option], value);
	char text[256], shown[64];
	size_t length = reprise_printable(value, SIZE_MAX, shown, sizeof(shown));

	if (meant != NULL)
		return reprise_arguments_refuse("--%s: \"%s\" is not %s; did you mean %s?",
		                                long_name(found), shown,
		                                reprise_option_range(option, text, sizeof(text)), meant);
	return reprise_arguments_refuse("--%s: \"%s%s\" is not %s", long_name(found), shown,
	                                value[length] != '\0' ? "..." : "",
	                                reprise_option_range(option, text, sizeof(text)));
}

/* Returns -1, or the exit status. `found` as in all_options(). */
static int take_library_option(int found, const char *value, struct reprise_arguments *arguments)
{
	unsigned int option = library_option(found);
	const char *problem;

	if (strcmp(value, "--") == 0)
		return refuse_missing(found);
	if (!reprise_option_accepts(option, value))
		return refuse_value(found, value);
	problem = reprise_output_check_option(option, value);
	if (problem != NULL)
		return reprise_arguments_refuse("--%s: cannot write to %s: %s", long_name(found), value,
		                                problem);
	(found >= OLD_FIRST ? arguments->old_options : arguments->options)[option] = value;
	return -1;
}

/* The same for a path from the environment. */
static int check_output_of(unsigned int option)
{
	const char *variable, *value = reprise_option_environment(option, &variable);
	const char *problem = value != NULL && reprise_option_accepts(option, value)
	                          ? reprise_output_check_option(option, value)
	                          : NULL;

	return problem != NULL
	           ? reprise_arguments_refuse("%s: cannot write to %s: %s", variable, value, problem)
	           : -1;
}

/* Options given by their old names count if they are not given by their new ones. */
static void take_old_options(struct reprise_arguments *arguments)
{
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++) {
		const char *old = arguments->old_options[i];

		if (old == NULL)
			continue;
		if (arguments->options[i] == NULL)
			arguments->options[i] = old;
		else if (strcmp(arguments->options[i], old) != 0)
			fprintf(stderr,
			        "reprise: --%s has no effect: it is the old name of --%s, which is given and "
			        "counts\n",
			        long_name(OLD_FIRST + (int)i), long_name((int)i));
	}
}

/* True if the library will have a text for the option, from the command or the environment. */
static bool will_have(unsigned int option, const struct reprise_arguments *arguments)
{
	const char *variable, *value = arguments->options[option];

	if (value == NULL)
		value = reprise_option_environment(option, &variable);
	return value != NULL && value[0] != '\0' && reprise_option_accepts(option, value);
}

/* Refuses options that would have no effect, for want of another one. */
static int refuse_idle(const struct reprise_command *command,
                       const struct reprise_arguments *arguments)
{
	static const struct {
		enum reprise_option option, needs;
		const char *except_in; /* the command in which it has an effect by itself, or NULL */
	} rows[] = {{REPRISE_OPTION_RECORD_MOST, REPRISE_OPTION_RECORD, NULL},
	            {REPRISE_OPTION_TIMELINE_MOST, REPRISE_OPTION_TIMELINE, NULL},
	            {REPRISE_OPTION_CUPTI, REPRISE_OPTION_TIMELINE, "observe"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned int option = rows[i].option;
		const char *value = arguments->options[option];

		if (value == NULL || (is_switch(option) && strcmp(value, "0") == 0) ||
		    (rows[i].except_in != NULL && strcmp(command->name, rows[i].except_in) == 0) ||
		    will_have(rows[i].needs, arguments))
			continue;
		if (value == arguments->old_options[option])
			return reprise_arguments_refuse("--%s: \"%s\" has no effect without --%s FILE",
			                                long_name(OLD_FIRST + (int)option), value,
			                                long_name((int)rows[i].needs));
		return reprise_arguments_refuse("--%s: \"%s\" has no effect without --%s FILE%s%s",
		                                long_name((int)option), value,
		                                long_name((int)rows[i].needs),
		                                rows[i].except_in != NULL ? ", except in " : "",
		                                rows[i].except_in != NULL ? rows[i].except_in : "");
	}
	return -1;
}

/* Puts the options into the environment, after all have been checked. */
static int set_options(const struct reprise_command *command,
                       const struct reprise_arguments *arguments)
{
	char by[REPRISE_OPTION_TEXT_MOST + 64];
	int status = refuse_idle(command, arguments);

	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT && status < 0; i++)
		status =
			arguments->options[i] == NULL && has_option(command, (int)i) ? check_output_of(i) : -1;
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT && status < 0; i++) {
		if (arguments->options[i] == NULL)
			continue;
		snprintf(by, sizeof(by), "--%s %s", reprise_option_name(i), arguments->options[i]);
		if (!reprise_given_set(i, arguments->options[i], by))
			status = reprise_arguments_refuse("out of memory");
	}
	return status;
}

/* Returns -1, or the exit status. */
static int take_number(int option, const char *value, unsigned long greatest, unsigned long *number)
{
	char *end = NULL, shown[64];

	*number = isdigit((unsigned char)value[0]) ? strtoul(value, &end, 10) : 0;
	if (end != NULL && *end == '\0' && *number > 0 && *number <= greatest)
		return -1;
	reprise_printable(value, SIZE_MAX, shown, sizeof(shown));
	return reprise_arguments_refuse("--%s: \"%s\" is not a number from 1 to %lu",
	                                reprise_own_rows[option].name, shown, greatest);
}

/* The same for a share, which may have decimals. */
static int take_share(int option, const char *value, double *share)
{
	size_t length = strspn(value, "0123456789.");
	char *end = NULL, shown[64];

	*share = isdigit((unsigned char)value[0]) && value[length] == '\0' ? strtod(value, &end) : 0;
	if (end != NULL && *end == '\0' && *share > 0 && *share <= 100)
		return -1;
	reprise_printable(value, SIZE_MAX, shown, sizeof(shown));
	return reprise_arguments_refuse("--%s: \"%s\" is not a number above 0, up to 100 (per cent)",
	                                reprise_own_rows[option].name, shown);
}

static int take_own_option(int option, char *value, struct reprise_arguments *arguments)
{
	unsigned long number;
	char **more;
	int status;

	if (value != NULL && strcmp(value, "--") == 0)
		return refuse_missing(OWN_FIRST + option);
	arguments->given[option] = true;
	if (option == REPRISE_OWN_RUNS) {
		status = take_number(option, value, REPRISE_PAIRS_MOST, &number);
		arguments->wish.runs = number;
		return status;
	}
	if (option == REPRISE_OWN_SECONDS) {
		status = take_number(option, value, SECONDS_MOST, &number);
		arguments->wish.seconds = (double)number;
		return status;
	}
	if (option == REPRISE_OWN_REQUIRE)
		return take_share(option, value, &arguments->require);
	if (option == REPRISE_OWN_JSON)
		arguments->wish.json = true;
	if (option == REPRISE_OWN_HTML)
		arguments->html = value;
	if (option != REPRISE_OWN_FILES)
		return -1;
	more = realloc(arguments->globs, (arguments->glob_count + 1) * sizeof(*more));
	if (more == NULL)
		return reprise_arguments_refuse("out of memory");
	more[arguments->glob_count++] = value;
	arguments->globs = more;
	return -1;
}

/* Handles one result of getopt_long(). */
static int take(const struct reprise_command *command, int found, char **words,
                struct reprise_arguments *arguments)
{
	char text[128], letter[] = {'-', (char)optopt, '\0'}, *value = optarg;

	if (found == '?' && optopt >= OWN_FIRST)
		return reprise_arguments_refuse("--%s takes no value", long_name(optopt));
	if (found == '?')
		return refuse_unknown(command, optopt != 0 ? letter : words[optind - 1]);
	if (!has_option(command, found == ':' ? optopt : found))
		return reprise_arguments_refuse("--%s is an option of %s, not of %s",
		                                long_name(found == ':' ? optopt : found),
		                                owners(found == ':' ? optopt : found, text), command->name);
	if (found == ':')
		return refuse_missing(optopt);
	if (found == HELP || found == 'h') {
		arguments->help = true;
		return 0;
	}
	if (found == VERSION) {
		puts("reprise " REPRISE_VERSION);
		return 0;
	}
	if (found >= OWN_FIRST && found < HELP)
		return take_own_option(found - OWN_FIRST, value, arguments);
	/* A switch is on unless 0 follows, in the same word or in the next. */
	if (value == NULL && words[optind] != NULL &&
	    (strcmp(words[optind], "0") == 0 || strcmp(words[optind], "1") == 0))
		value = words[optind++];
	return take_library_option(found, value != NULL ? value : "1", arguments);
}

int reprise_arguments_take(const struct reprise_command *command, char **words,
                           struct reprise_arguments *arguments)
{
	bool program = (command->has & REPRISE_HAVING_PROGRAM) != 0;
	int count = 0, found, status = -1;

	while (words[count] != NULL)
		count++;
	opterr = 0;
	while (status < 0 &&
	       (found = getopt_long(count, words, program ? "+:h" : ":h", all_options(), NULL)) != -1)
		status = take(command, found, words, arguments);
	arguments->rest = words + optind;
	arguments->rest_count = (size_t)(count - optind);
	if (status < 0 && program && arguments->rest_count == 0)
		return reprise_arguments_refuse("%s needs a program: reprise %s %s", command->name,
		                                command->name, command->arguments);
	if (status < 0)
		take_old_options(arguments);
	return status < 0 && program ? set_options(command, arguments) : status;
}
