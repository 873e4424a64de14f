/* The commands: their table, with name, arguments and options; and what each does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum reprise_command_id {
	REPRISE_COMMAND_RUN,
	REPRISE_COMMAND_OBSERVE,
	REPRISE_COMMAND_REPORT,
	REPRISE_COMMAND_DOCTOR,
	REPRISE_COMMAND_VERIFY,
	REPRISE_COMMAND_BENCH,
	REPRISE_COMMAND_CTL,
	REPRISE_COMMAND_TOP,
	REPRISE_COMMAND_HELP,
};

struct reprise_command {
	enum reprise_command_id id;
	const char *name, *arguments, *help;
	unsigned int has; /* a bit of enum reprise_having: its options */
};

enum reprise_having {
	REPRISE_HAVING_RUN = 1,
	REPRISE_HAVING_OBSERVE = 2,
	REPRISE_HAVING_VERIFY = 4,
	REPRISE_HAVING_REPORT = 8,
	REPRISE_HAVING_NOTHING = 16,
	REPRISE_HAVING_BENCH = 32,
	REPRISE_HAVING_TOP = 64,
	/* Starts a program, with the library's options. */
	REPRISE_HAVING_PROGRAM =
		REPRISE_HAVING_RUN | REPRISE_HAVING_OBSERVE | REPRISE_HAVING_VERIFY | REPRISE_HAVING_BENCH,
};

extern const struct reprise_command reprise_commands[];
extern const size_t reprise_command_count;

/* NULL if there is no such command. */
const struct reprise_command *reprise_command_named(const char *name);

/* Prints the usage of the command; NULL: of all (usage.c). */
void reprise_command_usage(FILE *to, const struct reprise_command *command);

/* ---- what they do ---- */

/* What the user wants of a run. */
struct reprise_run_wish {
	bool stand_in;    /* for libcuda.so.1, instead of being preloaded */
	bool progress;    /* a line from time to time, if stderr is a terminal */
	bool quiet;       /* nothing is said but errors */
	double require;   /* per cent of the launches that have to be replayed; 0: none */
	const char *html; /* the page to write of the reports; NULL: none */
	bool open;        /* show it in a browser; without `html`, one in a temporary file */
};

#define REPRISE_RUN_TOO_LITTLE 125 /* exit status: less was replayed than required */

/*
 * reprise run, reprise observe. Runs `command` with the library preloaded, or with the stand-in, in
 * the present environment; waits; and prints one line on stderr. Returns the exit status: the
 * program's, or REPRISE_RUN_TOO_LITTLE instead of 0. If a signal ended the program, it ends this
 * process too.
 */
int reprise_cli_run(char **command, const char *mode, const struct reprise_run_wish *wish);

/*
 * reprise verify: runs a program without Reprise and with it, and tells what differs. Both runs get
 * the same standard input (none if it is a terminal) and the files that the globs name as they were
 * before the first. The files of the second run stay. Prints what was compared. Returns the exit
 * status: 0 nothing differs, 1 something differs, 2 it could not be seen, 3 nothing differs but
 * nothing was replayed, 127 or 126 the program could not be started. If a signal asks this process
 * to end, it ends by that signal.
 */
int reprise_cli_twice(char **command, char *const *globs, size_t count, bool stand_in);

/* What the user wants of a bench; 0 where nothing is said. */
struct reprise_bench_wish {
	size_t runs;    /* of each side */
	double seconds; /* no pair of runs begins that would end later */
	bool json;
};

/*
 * reprise bench: runs a program without Reprise and with it, by turns, and prints how long the runs
 * took, what differs, and a verdict. All runs get the same standard input (none if it is a
 * terminal). Returns the exit status: 0 it is not shown to be slower, 1 it is slower with Reprise,
 * or its output or its end differs, 2 it could not be measured, 3 neither, but nothing was
 * replayed, 127 or 126 the program could not be started. If a signal asks this process to end, it
 * ends by that signal.
 */
int reprise_cli_bench(char **command, const struct reprise_bench_wish *wish, bool stand_in);

/* reprise report. Becomes the reader of reports, in Python, which has a JSON reader built in, with
 * `words` (ending with NULL) as its arguments. Returns the exit status if it fails. */
int reprise_cli_report(char **words);

/* reprise doctor: tells if a program can run under Reprise here, and if not, what to do. Prints
 * what is installed, the driver that the loader finds, the options with their origin and, unless
 * `program` is NULL, what its file tells. Returns the exit status: 0 if the program can be
 * preloaded and replayed (NULL: if anything can be preloaded here), else 1. */
int reprise_cli_doctor(const char *program);

/* reprise ctl WHO WORD: sends the word to a process by its number, to all processes of a program by
 * its name, or to "all" that accept control, and prints the answers. Returns the exit status: 1 if
 * there is none, or one does not do it. */
int reprise_cli_control(const char *who, const char *word);

/* reprise top: prints a table of the processes that accept control, each second anew; `once`: one
 * time. Returns the exit status. */
int reprise_cli_top(bool once);
