/* Help, which completion reads too (share/completions). */
#include "cli/commands.h"

#include "base/options.h"
#include "control/peer.h"
#include "cli/arguments.h"

static void tell_command(FILE *to, const struct reprise_command *command, bool first)
{
	char line[128];

	snprintf(line, sizeof(line), "reprise %s %s", command->name, command->arguments);
	fprintf(to, "%s %-53s  %s\n", first ? "usage:" : "      ", line, command->help);
}

static void tell_own_option(FILE *to, const struct reprise_own_row *row, bool all)
{
	char name[64], of[64] = "";
	size_t length = 0;

	snprintf(name, sizeof(name), "--%s%s%s", row->name, row->takes != NULL ? " " : "",
	         row->takes != NULL ? row->takes : "");
	for (size_t i = 0; all && row->having != REPRISE_HAVING_PROGRAM && i < reprise_command_count;
	     i++)
		if ((reprise_commands[i].has & row->having) != 0)
			length += (size_t)snprintf(of + length, sizeof(of) - length, "%s%s",
			                           length > 0 ? ", " : "of ", reprise_commands[i].name);
	fprintf(to, "  %-17s %s%s%s\n", name, of, length > 0 ? ": " : "", row->help);
}

static void tell_library_option(FILE *to, unsigned int option)
{
	const struct reprise_option_row *row = &reprise_option_rows[option];

	fprintf(to, "  --%-15s %s", reprise_option_name(option), row->help);
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
		fprintf(to, "  %-17s %s\n", words[i][0], words[i][1]);
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
	fputs("  --help            show this help; after a command: what that takes\n"
	      "  --version         show the version\n",
	      to);
	if (command != NULL && command->id == REPRISE_COMMAND_CTL)
		tell_words(to);
}
