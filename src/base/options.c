#include "base/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"

#define PREFIX REPRISE_OPTIONS_PREFIX "_"

/* Not options: set and read by the modulefile (docs/install.md). */
static const char *const others[] = {"REPRISE_LIBRARY", "REPRISE_PRELOAD"};

const struct reprise_option_row reprise_option_rows[REPRISE_OPTION_COUNT] = {
#define X(option, variable, kind, standard, least, greatest, words, help) \
	[REPRISE_OPTION_## \
		option] = {variable, REPRISE_OPTION_##kind, standard, least, greatest, words, help},
	REPRISE_OPTIONS(X)
#undef X
};

static const char *const old_names[REPRISE_OPTION_COUNT] = {
#define X(option, variable) [REPRISE_OPTION_##option] = variable,
	REPRISE_OLD_NAMES(X)
#undef X
};

enum reprise_mode reprise_mode;

static struct {
	uint64_t value;
	char text[REPRISE_OPTION_TEXT_MOST];
	bool given, by_command;
	bool settled;       /* the environment has a value, if one that cannot be used */
	unsigned char file; /* that gave the value, from 1; 0: none did */
} values[REPRISE_OPTION_COUNT];

/* The files that have given values: the machine's, and the user's. */
static char files[2][REPRISE_OPTION_FILE_MOST];

static bool parse_word(const struct reprise_option_row *row, const char *text, uint64_t *value)
{
	size_t length = strlen(text);
	uint64_t index = 0;

	for (const char *word = row->words; length > 0; word++, index++) {
		const char *end = strchrnul(word, '|');

		if ((size_t)(end - word) == length && strncmp(word, text, length) == 0) {
			*value = index;
			return true;
		}
		if (*end == '\0')
			break;
		word = end;
	}
	return false;
}

static bool parse_number(const struct reprise_option_row *row, const char *text, uint64_t *value)
{
	uint64_t number = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' || number > row->greatest)
			return false;
		number = number * 10 + (uint64_t)(*text - '0');
	}
	*value = number;
	return number >= row->least && number <= row->greatest;
}

static bool parse(const struct reprise_option_row *row, const char *text, uint64_t *value)
{
	if (row->kind == REPRISE_OPTION_TEXT)
		return strlen(text) < REPRISE_OPTION_TEXT_MOST;
	return row->kind == REPRISE_OPTION_WORD ? parse_word(row, text, value)
	                                        : parse_number(row, text, value);
}

bool reprise_option_accepts(enum reprise_option option, const char *text)
{
	uint64_t value;

	return parse(&reprise_option_rows[option], text, &value);
}

const char *reprise_option_old_name(enum reprise_option option)
{
	return old_names[option];
}

const char *reprise_option_environment(enum reprise_option option, const char **variable)
{
	const char *old = old_names[option], *text = getenv(reprise_option_rows[option].variable);

	*variable = reprise_option_rows[option].variable;
	if (text != NULL || old == NULL || getenv(old) == NULL)
		return text;
	*variable = old;
	return getenv(old);
}

const char *reprise_option_range(enum reprise_option option, char *words, size_t size)
{
	const struct reprise_option_row *row = &reprise_option_rows[option];

	if (row->kind == REPRISE_OPTION_NUMBER)
		snprintf(words, size, "a number from %llu to %llu (%.*s)", (unsigned long long)row->least,
		         (unsigned long long)row->greatest, (int)strcspn(row->help, " "), row->help);
	else if (row->kind == REPRISE_OPTION_WORD)
		snprintf(words, size, "one of %s", row->words);
	else
		snprintf(words, size, "a text of at most %d characters", REPRISE_OPTION_TEXT_MOST - 1);
	return words;
}

static bool take(enum reprise_option option, const char *text)
{
	const struct reprise_option_row *row = &reprise_option_rows[option];
	uint64_t value;

	if (!parse(row, text, &value))
		return false;
	if (row->kind == REPRISE_OPTION_TEXT)
		strcpy(values[option].text, text);
	else
		values[option].value = value;
	return true;
}

/* Without the prefix, which would make all names near each other. REPRISE itself counts as MODE,
 * since a user may guess that name. */
static const char *bare_name(const char *variable)
{
	return variable[sizeof(PREFIX) - 2] == '\0' ? "MODE" : variable + sizeof(PREFIX) - 1;
}

/* The option that was probably meant; NULL if none. */
static const char *meant(const char *variable)
{
	const char *names[REPRISE_OPTION_COUNT], *nearest;

	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		names[i] = bare_name(reprise_option_rows[i].variable);
	nearest = reprise_nearest(bare_name(variable), names, REPRISE_OPTION_COUNT);
	for (unsigned int i = 0; nearest != NULL && i < REPRISE_OPTION_COUNT; i++)
		if (names[i] == nearest)
			return reprise_option_rows[i].variable;
	return NULL;
}

static bool is_name(const char *name, const char *variable, size_t length)
{
	return name != NULL && strlen(name) == length && memcmp(name, variable, length) == 0;
}

static enum reprise_option option_of(const char *variable, size_t length)
{
	unsigned int i = 0;

	while (i < REPRISE_OPTION_COUNT &&
	       !is_name(reprise_option_rows[i].variable, variable, length) &&
	       !is_name(old_names[i], variable, length))
		i++;
	return (enum reprise_option)i;
}

static bool is_known(const char *variable, size_t length)
{
	if (option_of(variable, length) != REPRISE_OPTION_COUNT)
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (is_name(others[i], variable, length))
			return true;
	return false;
}

/* True if the command's list `list` has this value of the variable. */
static bool is_listed(const char *list, const char *variable, size_t length, const char *text)
{
	size_t text_length = strlen(text);

	for (const char *line = getenv(list); line != NULL && *line != '\0';
	     line = strchr(line, ';'), line += line != NULL) {
		const char *value = line + length + 1;

		if (strncmp(line, variable, length) == 0 && line[length] == '=' &&
		    strncmp(value, text, text_length) == 0 && value[text_length] == ';')
			return true;
	}
	return false;
}

/* Warns of variables that look like options and are none, since they have no effect. */
static void tell_unknown(void)
{
	for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
		char variable[REPRISE_LOG_NAME_MOST];
		size_t length = strcspn(*entry, "=");

		if (strncmp(*entry, PREFIX, sizeof(PREFIX) - 1) != 0 || is_known(*entry, length) ||
		    ((*entry)[length] == '=' &&
		     is_listed(REPRISE_OPTIONS_NAMED, *entry, length, *entry + length + 1)))
			continue;
		snprintf(variable, sizeof(variable), "%.*s",
		         (int)(length < sizeof(variable) ? length : sizeof(variable) - 1), *entry);
		reprise_log_unknown(variable, meant(variable));
	}
}

/* Warns of old names that do not count because the new one has another value. */
static void tell_old_names(void)
{
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++) {
		const char *variable = reprise_option_rows[i].variable, *old = old_names[i];
		const char *text = getenv(variable), *old_text = old != NULL ? getenv(old) : NULL;

		if (text != NULL && old_text != NULL && strcmp(text, old_text) != 0 &&
		    !is_listed(REPRISE_OPTIONS_NAMED, old, strlen(old), old_text))
			reprise_log(REPRISE_LOG_WARNING,
			            "%s has no effect: it is the old name of %s, which is set and counts", old,
			            variable);
	}
}

void reprise_options_read(void)
{
	bool secure = getauxval(AT_SECURE) != 0;
	char range[REPRISE_OPTION_RANGE_MOST];

	memset(files, 0, sizeof(files));
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++) {
		const char *variable, *text = secure ? NULL : reprise_option_environment(i, &variable);

		values[i].value = reprise_option_rows[i].standard;
		if (reprise_option_rows[i].kind == REPRISE_OPTION_TEXT)
			strcpy(values[i].text, reprise_option_rows[i].words);
		values[i].settled = text != NULL;
		values[i].file = 0;
		values[i].given = text != NULL && take(i, text);
		values[i].by_command =
			values[i].given && is_listed(REPRISE_OPTIONS_SET, variable, strlen(variable), text);
		if (text != NULL && !values[i].given &&
		    !is_listed(REPRISE_OPTIONS_NAMED, variable, strlen(variable), text))
			reprise_log_option(variable, text, reprise_option_range(i, range, sizeof(range)));
	}
	if (secure)
		values[REPRISE_OPTION_MODE].value = 0;
	reprise_log_level(values[REPRISE_OPTION_LOG].value);
	if (!secure) {
		tell_unknown();
		tell_old_names();
	}
}

enum reprise_option reprise_option_of(const char *variable)
{
	return option_of(variable, strlen(variable));
}

/* The file's number, from 1. A later file than there is room for has the last one's. */
static unsigned char number_of(const char *file)
{
	size_t number = 0;

	while (number + 1 < sizeof(files) / sizeof(*files) && files[number][0] != '\0' &&
	       strcmp(files[number], file) != 0)
		number++;
	snprintf(files[number], sizeof(files[number]), "%s", file);
	return (unsigned char)(number + 1);
}

bool reprise_option_take(enum reprise_option option, const char *text, const char *file)
{
	uint64_t value;

	if (values[option].settled)
		return parse(&reprise_option_rows[option], text, &value);
	if (!take(option, text))
		return false;
	values[option].given = true;
	values[option].file = number_of(file);
	return true;
}

uint64_t reprise_option(enum reprise_option option)
{
	return values[option].value;
}

const char *reprise_option_text(enum reprise_option option)
{
	return values[option].text;
}

int reprise_option_given(enum reprise_option option)
{
	return values[option].given;
}

const char *reprise_option_origin(enum reprise_option option)
{
	if (values[option].file > 0)
		return files[values[option].file - 1];
	return values[option].by_command ? "command" : values[option].given ? "environment" : "default";
}
