/* Showing reports: done by a reader in Python, which has a JSON reader of its own; nothing else is
 * needed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Becomes the reader, with `words` (NULL behind the last) as its arguments. Returns only if it
 * cannot be, with the status to exit with. */
int reprise_cli_report(char **words);

/* Has the reader print these reports on stderr, joined. False if it could not. */
bool reprise_cli_report_run(char *const *paths, size_t count);
