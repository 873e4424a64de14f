/* Shows reports through a reader in Python, which has a JSON reader built in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Becomes the reader, with `words` (ending with NULL) as its arguments. Returns the exit status if
 * it fails. */
int reprise_cli_report(char **words);

/* The reader prints these reports, joined, on stderr. False if it could not. */
bool reprise_cli_report_run(char *const *paths, size_t count);
