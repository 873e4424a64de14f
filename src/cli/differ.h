/* Compares files and says where they differ. */
#pragma once

#include <stdbool.h>

/* Compares two files, either of which may be missing. Prints one line named `what`, and for text
 * also the two lines that differ. True if the files are the same. */
bool reprise_cli_same_files(const char *what, const char *without, const char *with);
