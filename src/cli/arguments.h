/* The arguments of a command: its options, and the rest. Errors are refused here, before anything
 * is started. And the options in the environment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "cli/commands.h"

/* The command's own options; base/options.h has the library's. X(option, name, what it takes or
 * NULL, which commands have it, help) */
#define REPRISE_OWN_OPTIONS(X) \
	X(STAND_IN, "stand-in", NULL, REPRISE_HAVING_PROGRAM, \
	  "stand in for libcuda.so.1 instead of being preloaded: for libraries opened with RTLD_DEEPBIND or dlmopen") \
	X(VERIFY, "verify", NULL, REPRISE_HAVING_RUN, \
	  "compare every node before its graph is launched, and wait after it") \
	X(PROGRESS, "progress", NULL, REPRISE_HAVING_RUN, \
	  "a line on the terminal while the program runs: the share replayed, and the memory used") \
	X(QUIET, "quiet", NULL, REPRISE_HAVING_RUN | REPRISE_HAVING_OBSERVE, \
	  "say nothing at the end, and log nothing unless --log is given: only errors of the command") \
	X(REQUIRE, "require", "PERCENT", REPRISE_HAVING_RUN, \
	  "end with 125 if the program succeeds, but a smaller share of its launches was replayed") \
	X(ONCE, "once", NULL, REPRISE_HAVING_TOP, "show them once") \
	X(FILES, "files", "GLOB", REPRISE_HAVING_VERIFY, \
	  "further files to compare; may be given more than once") \
	X(RUNS, "runs", "N", REPRISE_HAVING_BENCH, \
	  "runs of each side; unless given, as many as there is time for") \
	X(SECONDS, "seconds", "N", REPRISE_HAVING_BENCH, \
	  "begin no run that would end later; unless given, 30, but 6 runs of each side at least") \
	X(JSON, "json", NULL, REPRISE_HAVING_REPORT | REPRISE_HAVING_BENCH, \
	  "print JSON, joined into one object") \
	X(HTML, "html", "FILE", REPRISE_HAVING_RUN | REPRISE_HAVING_OBSERVE | REPRISE_HAVING_REPORT, \
	  "write a page for a browser, with plots; needs no network") \
	X(OPEN, "open", NULL, REPRISE_HAVING_RUN | REPRISE_HAVING_OBSERVE | REPRISE_HAVING_REPORT, \
	  "open the page in a browser, if there is a desktop; without --html, one in $TMPDIR or /tmp") \
	X(COMPARE, "compare", NULL, REPRISE_HAVING_REPORT, \
	  "show what changed from the first report or folder to the second")

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
	bool help; /* asked for; the rest says nothing then */
	bool given[REPRISE_OWN_COUNT];
	const char *options[REPRISE_OPTION_COUNT]; /* of the library; NULL: not given */
	/* The same, given by their old names. */
	const char *old_options[REPRISE_OPTION_COUNT];
	const char *html;
	struct reprise_bench_wish wish;
	double require; /* per cent */
	char **globs;
	size_t glob_count;
	/* The program and its arguments, or other words of the command; ends with NULL. */
	char **rest;
	size_t rest_count;
};

/* The name of the library's option, without hyphens: its variable in small letters, without
 * "REPRISE_". Valid until the next call. */
const char *reprise_option_name(unsigned int option);

/* The commands that have the option, as bits of enum reprise_having. Without replays there are no
 * graphs to draw or to launch, and none that could pay. */
unsigned int reprise_option_having(unsigned int option);

/* Puts the library's options into the environment. Returns -1, or the exit status if help or the
 * version was asked for, or if something is wrong; one line says what. */
int reprise_arguments_take(const struct reprise_command *command, char **words,
                           struct reprise_arguments *arguments);

/* Prints a line on stderr and returns 2. */
__attribute__((format(printf, 1, 2))) int reprise_arguments_refuse(const char *format, ...);

/* ---- the options in the environment (given.c): those that the command sets, and what is wrong
 * with others. The library is told of both (base/options.h). ---- */

/* Sets the option; `by` names the reason. Says so if the environment had another value. False if
 * there is no memory. */
bool reprise_given_set(enum reprise_option option, const char *value, const char *by);

/* Reports unknown variables and values that cannot be used. The library does not report
 * them again. */
void reprise_given_look(void);
