/* What stands behind a command's name: its options, and the rest. What cannot be right is refused
 * here, before anything is started. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "cli/commands.h"

/* The options of the command itself, once; those of the library are in base/options.h. X(name, what
 * it takes or NULL, which commands have it, help) */
#define REPRISE_OWN_OPTIONS(X) \
	X(STAND_IN, "stand-in", NULL, REPRISE_HAVING_PROGRAM, \
	  "be libcuda.so.1 instead of being preloaded: for what is opened with RTLD_DEEPBIND or dlmopen") \
	X(VERIFY, "verify", NULL, REPRISE_HAVING_RUN, \
	  "compare every node before its graph is launched, and wait after it") \
	X(PROGRESS, "progress", NULL, REPRISE_HAVING_RUN, \
	  "a line on the terminal while the program runs: what is replayed, and the memory it takes") \
	X(FILES, "files", "GLOB", REPRISE_HAVING_VERIFY, \
	  "files to compare, too; as often as you like") \
	X(JSON, "json", NULL, REPRISE_HAVING_REPORT, "as JSON, joined into one object") \
	X(HTML, "html", "FILE", REPRISE_HAVING_REPORT, "as a page for a browser, with plots; needs no network")

enum reprise_own_option {
#define X(option, ...) REPRISE_OWN_##option,
	REPRISE_OWN_OPTIONS(X)
#undef X
		REPRISE_OWN_COUNT
};

struct reprise_own_row {
	const char *name, *takes;
	unsigned int having;
	const char *help;
};

extern const struct reprise_own_row reprise_own_rows[REPRISE_OWN_COUNT];

struct reprise_arguments {
	bool given[REPRISE_OWN_COUNT];
	const char *options[REPRISE_OPTION_COUNT]; /* of the library; NULL where it is not given */
	const char *html;
	char **globs;
	size_t glob_count;
	char **rest; /* the program and its arguments, or whatever the command is given; NULL behind the
	                last */
	size_t rest_count;
};

/* --name of an option of the library, without the hyphens: its variable without "REPRISE_", in
 * small letters. Holds until the next call. */
const char *reprise_option_name(unsigned int option);

/* An option of the library that is followed by no word, or by 0 or 1. */
bool reprise_option_is_switch(unsigned int option);

/* Which commands have it, as bits of enum reprise_having: where nothing is replayed, there are no
 * graphs to draw or to launch. */
unsigned int reprise_option_having(unsigned int option);

/*
 * Puts the options of the library into the environment. Returns -1, or the status to exit with: the
 * help was asked for, or something is wrong, of which one line tells.
 */
int reprise_arguments_take(const struct reprise_command *command, char **words,
                           struct reprise_arguments *arguments);

/* Says so on stderr, as the command's line, and returns 2. */
__attribute__((format(printf, 1, 2))) int reprise_arguments_refuse(const char *format, ...);
