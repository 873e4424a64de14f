/*
 * The files that both runs of `reprise verify` write, as globs name them, and copies of them in a
 * folder: by their number, from before the first run and from after it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum reprise_files_when { REPRISE_FILES_BEFORE = 'b', REPRISE_FILES_FIRST = 'f' };

struct reprise_files {
	char *const *globs;
	size_t glob_count;
	const char *folder;       /* of the copies */
	struct reprise_file *all; /* that were ever seen */
	size_t count;
};

/* Notes the plain files that are there now; `before`: the first run. What keeps this and the next
 * two from being done is said. */
bool reprise_files_look(struct reprise_files *files, bool before);

/* Copies those that are there now. */
bool reprise_files_keep(const struct reprise_files *files, enum reprise_files_when when);

/* Makes them what they were before the first run. */
bool reprise_files_restore(const struct reprise_files *files);

/* Holds what is there now against what was there after the first run, and prints it. How many
 * differ. */
unsigned int reprise_files_differ(const struct reprise_files *files);

void reprise_files_free(struct reprise_files *files);

/* Reads `from` to its end, or as long as it can be; `unless_asked`: and as long as nobody asks this
 * process to end. False if not all of it was copied. */
bool reprise_copy_rest(int from, int to, bool unless_asked);
