/* Where two files differ, in words. */
#pragma once

#include <stdbool.h>

/*
 * Compares the files, of which either may be missing, and prints one line, or for text the two
 * lines that differ, under the name `what`. True if they are the same.
 */
bool reprise_cli_same_files(const char *what, const char *without, const char *with);
