/* Showing reports: done by a reader in Python, which has a JSON reader of its own; nothing else is needed. */
#pragma once

#include <stdbool.h>

/* Becomes the reader, with `words` (NULL behind the last) as its arguments. Returns only if it cannot be, with the status to exit with. */
int reprise_cli_report(char **words);

/* Has the reader print the report, or all of a folder, on stderr. False if it could not. */
bool reprise_cli_report_run(const char *path);
