#include "cli/arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"

/* Adds a line to a list in the environment. */
static bool list(const char *variable, const char *line)
{
	const char *before = getenv(variable) != NULL ? getenv(variable) : "";
	char *all;
	bool listed = asprintf(&all, "%s%s;", before, line) >= 0;

	if (listed) {
		listed = setenv(variable, all, 1) == 0;
		free(all);
	}
	return listed;
}

bool reprise_given_set(enum reprise_option option, const char *value, const char *by)
{
	const char *variable = reprise_option_rows[option].variable, *given = getenv(variable);
	char line[REPRISE_OPTION_TEXT_MOST + 64], shown[REPRISE_LOG_NAME_MOST];

	if (given != NULL && given[0] != '\0' && strcmp(given, value) != 0) {
		reprise_printable(given, SIZE_MAX, shown, sizeof(shown));
		fprintf(stderr, "reprise: %s=%s in the environment is overridden by %s\n", variable, shown,
		        by);
	}
	snprintf(line, sizeof(line), "%s=%s", variable, value);
	return setenv(variable, value, 1) == 0 && list(REPRISE_OPTIONS_SET, line);
}

void reprise_given_look(void)
{
	reprise_options_read();
	for (size_t i = 0; environ[i] != NULL; i++) /* environ moves when a variable is added */
		if (strncmp(environ[i], REPRISE_OPTIONS_PREFIX, strlen(REPRISE_OPTIONS_PREFIX)) == 0)
			list(REPRISE_OPTIONS_NAMED, environ[i]);
}
