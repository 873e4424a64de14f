/* Whether the library could write where it is told to; by looks, which may be over before it does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REPRISE_PLACE_SCRATCH_MOST \
	448 /* so that names in it are short enough for an option's text */

/*
 * Each is NULL if nothing is against it, or else the reason in words, which hold until the next
 * call: of a file that the library makes, or writes over (%p in the name is any process); of a
 * folder in which it makes files; and whether a folder has room for some more bytes, which is
 * tried.
 */
const char *reprise_place_file_problem(const char *pattern);
const char *reprise_place_folder_problem(const char *folder);
const char *reprise_place_room_problem(const char *folder);

/* The folder of a file of that name. False if the name is too long. */
bool reprise_place_folder_of(const char *path, char *folder, size_t size);

/* Makes a folder for this command's own use, in $TMPDIR or, where that cannot be, in /tmp. False:
 * errno says why. */
bool reprise_place_make_scratch(char folder[REPRISE_PLACE_SCRATCH_MOST]);

/* Removes it, and the files in it. */
void reprise_place_remove_scratch(const char *folder);

/* Calls `each` with the path of everything in the folder. */
void reprise_place_each(const char *folder, void (*each)(const char *path, void *context),
                        void *context);
