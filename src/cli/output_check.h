/* Tells if the library could write where it is told to. This is only a look: it may change before
 * the library writes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"

#define REPRISE_SCRATCH_MOST 448 /* leaves room for file names in an option's text */

/* Why the library could not write to the place that the option has; NULL if it could, or if the
 * option has no place. The library would run all the same, without its output. The words are valid
 * until the next call. */
const char *reprise_output_check_option(enum reprise_option option, const char *value);

/* Each returns NULL if it would work, or else the reason in words, valid until the next call. The
 * first: a file that the library makes or writes over (%p is any process). The second: a folder in
 * which it makes files. The third: if the folder has room for some more bytes, by trying. */
const char *reprise_output_check_file(const char *pattern);
const char *reprise_output_check_folder(const char *folder);
const char *reprise_output_check_room(const char *folder);

/* The folder of the file. False if the name is too long. */
bool reprise_folder_of(const char *path, char *folder, size_t size);

/* Makes a folder for this command, in $TMPDIR or else in /tmp. False: errno says why. */
bool reprise_scratch_make(char folder[REPRISE_SCRATCH_MOST]);

/* Removes the folder and the files in it. */
void reprise_scratch_remove(const char *folder);
