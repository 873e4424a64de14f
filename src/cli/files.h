/* The files that both runs of `reprise verify` write, named by globs. Copies of them are in a
 * folder, by number: one from before the first run, one from after it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum reprise_files_when { REPRISE_FILES_BEFORE = 'b', REPRISE_FILES_FIRST = 'f' };

struct reprise_files {
	char *const *globs;
	size_t glob_count;
	const char *folder;       /* the folder of the copies */
	struct reprise_file *all; /* all files that were ever seen */
	size_t count;
};

/* Notes the plain files that exist now. `before`: before the first run. This and the next two print
 * what they could not do. */
bool reprise_files_look(struct reprise_files *files, bool before);

/* Copies the files that exist now. */
bool reprise_files_keep(const struct reprise_files *files, enum reprise_files_when when);

/* Restores the files from before the first run. */
bool reprise_files_restore(const struct reprise_files *files);

/* Compares the files with those from after the first run and prints the result. Returns how many
 * differ. */
unsigned int reprise_files_differ(const struct reprise_files *files);

void reprise_files_free(struct reprise_files *files);

/* Copies `from` to its end; with `unless_asked`, only until this process is asked to end. False if
 * not everything was copied. */
bool reprise_copy_rest(int from, int to, bool unless_asked);

/* Compares two files, either of which may be missing. Prints one line named `what`, and for text
 * also the two lines that differ. True if the files are the same. */
bool reprise_cli_same_files(const char *what, const char *without, const char *with);

/* True if both files are there with the same content. Prints nothing. */
bool reprise_cli_equal_files(const char *a, const char *b);
