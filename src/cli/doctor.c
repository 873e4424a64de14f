#include "cli/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/profile.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/library.h"

static void tell_installation(void)
{
	char path[REPRISE_CLI_PATH_MOST];

	reprise_cli_tell("library", "%s", reprise_cli_find_library(path) ? path : "not found");
	reprise_cli_tell("stand-in", "%s", reprise_cli_find_stand_in(path) ? path : "not found");
}

/* Says where the value comes from. If the environment's value was not accepted, says which ones
 * are. */
static void tell_origin(enum reprise_option option)
{
	const struct reprise_option_row *row = &reprise_option_rows[option];
	const char *text = getenv(row->variable), *origin = reprise_option_origin(option);
	char shown[REPRISE_OPTION_FILE_MOST], given[REPRISE_OPTION_TEXT_MOST];

	reprise_printable(text != NULL ? text : "", SIZE_MAX, given, sizeof(given));
	if (origin[0] == '/' && reprise_printable(origin, SIZE_MAX, shown, sizeof(shown)) > 0)
		printf(" (from %s)\n", shown);
	else if (reprise_option_given(option))
		puts(" (from the environment)");
	else if (text == NULL)
		puts(" (default)");
	else if (row->kind == REPRISE_OPTION_NUMBER)
		printf(" (default, since the environment's \"%s\" is not from %llu to %llu)\n", given,
		       (unsigned long long)row->least, (unsigned long long)row->greatest);
	else if (row->kind == REPRISE_OPTION_WORD)
		printf(" (default, since the environment's \"%s\" is none of %s)\n", given, row->words);
	else
		printf(" (default, since the environment's value has more than %d characters)\n",
		       REPRISE_OPTION_TEXT_MOST - 1);
}

static const char *word(const struct reprise_option_row *row, uint64_t value, char words[128])
{
	snprintf(words, 128, "%s", row->words);
	for (uint64_t i = 0; i < value; i++)
		strsep(&words, "|");
	return strsep(&words, "|");
}

static void tell_option(enum reprise_option option)
{
	const struct reprise_option_row *row = &reprise_option_rows[option];
	char words[128], shown[REPRISE_OPTION_TEXT_MOST];

	printf("  %-*s ", REPRISE_DOCTOR_COLUMN, row->variable);
	if (row->kind == REPRISE_OPTION_NUMBER)
		printf("%llu", (unsigned long long)reprise_option(option));
	else if (row->kind == REPRISE_OPTION_WORD)
		fputs(word(row, reprise_option(option), words), stdout);
	else
		fputs(reprise_printable(reprise_option_text(option), SIZE_MAX, shown, sizeof(shown)) > 0
		          ? shown
		          : "none",
		      stdout);
	tell_origin(option);
}

/* True unless the option is given, by whatever, in a form that counts or in one that does not. */
static bool is_untouched(enum reprise_option option)
{
	return !reprise_option_given(option) && getenv(reprise_option_rows[option].variable) == NULL;
}

static void tell_options(bool all)
{
	unsigned int untouched = 0;

	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		if (!all && is_untouched(i))
			untouched++;
		else
			tell_option(i);
	if (untouched > 0)
		reprise_cli_tell(untouched < REPRISE_OPTION_COUNT ? "other options" : "options",
		                 "defaults; reprise doctor without a program lists them");
}

int reprise_cli_doctor(const char *program)
{
	struct reprise_hindrances hindrances = {0};
	struct reprise_program read = {0};
	bool privileged;

	if (program != NULL)
		reprise_program_read(program, &read);
	privileged = reprise_program_is_privileged(&read);
	reprise_options_read();
	if (program != NULL && !privileged)
		reprise_profiles_read(basename(program));
	tell_installation();
	reprise_cli_tell_machine(&hindrances);
	/* A program that gets the defaults, whatever is given, would be told of values that it never
	 * has. */
	if (privileged)
		reprise_cli_tell("options",
		                 "none: a program with more rights than its user reads none from the "
		                 "environment, and no profile");
	else
		tell_options(program == NULL);
	reprise_cli_tell_conflicts(&hindrances);
	if (program != NULL)
		return reprise_cli_tell_program(program, &read, &hindrances) ? 0 : 1;
	return hindrances.preloading[0] != '\0' || hindrances.starting[0] != '\0' ? 1 : 0;
}
