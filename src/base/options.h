/*
 * Every option, once: its enumerator, environment variable, kind, default, range and help.
 *
 * Options are read from the environment, and from files (profile.h), when Reprise starts, and only
 * then. If a value cannot be used, one line on stderr says so and the default is used. A variable that begins with REPRISE_
 * and is no option is named in the same way, unless the command `reprise` has named it already. A
 * program with more rights than its user (AT_SECURE) gets the defaults, and off.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*  X(option, variable, kind, default, least, greatest, words or default text, help); the help of a
 * NUMBER begins with its unit */
#define REPRISE_OPTION_TEXT_MOST 512 /* a TEXT is shorter */

#define REPRISE_OPTIONS(X) \
	X(MODE, "REPRISE", WORD, 2, 0, 3, "off|observe|on|verify", \
	  "off: nothing; observe: only watch and count; on: replay from graphs; verify: replay and compare") \
	X(HOLD, "REPRISE_HOLD", NUMBER, 400, 0, 100000, "", \
	  "microseconds that a launch may stay deferred; 0 defers nothing; not set, four times as long where a loop is steady") \
	X(MEMORY, "REPRISE_MEMORY", NUMBER, 256, 1, 65536, "", \
	  "MiB of device memory that graphs may take, as estimated from the driver's readings") \
	X(SMALLEST, "REPRISE_SMALLEST", NUMBER, 1, 1, 128, "", \
	  "launches that a graph has at least; copies and memsets count") \
	X(PAYS, "REPRISE_PAYS", WORD, 0, 0, 1, "measured|assumed", \
	  "replay only where it measures faster (measured), or always (assumed)") \
	X(TURNS, "REPRISE_TURNS", WORD, 0, 0, 2, "auto|0|1", \
	  "measure by turns whether replaying gains, and leave eager what does not: unless REPRISE_PAYS=assumed (auto), never (0), or always (1)") \
	X(SUBMIT, "REPRISE_SUBMIT", WORD, 0, 0, 2, "auto|never|always", \
	  "launch graphs from a background thread: where the program is slow and far from a wait (auto), never, or wherever possible (always)") \
	X(TOOLS, "REPRISE_TOOLS", WORD, 0, 0, 1, "aside|ignore", \
	  "whether to stand aside for debuggers, checkers and profilers") \
	X(DENY, "REPRISE_DENY", TEXT, 0, 0, 0, "*nccl*,*nvshmem*", \
	  "kernels that are always eager: globs of their names, mangled or not, separated by commas") \
	X(NVTX_OFF, "REPRISE_NVTX_OFF", TEXT, 0, 0, 0, "", \
	  "NVTX ranges whose calls are eager: globs of their names, or DOMAIN@RANGE, separated by commas") \
	X(LOG, "REPRISE_LOG", WORD, 1, 0, 3, "silent|warning|info|debug", \
	  "which messages go to stderr") \
	X(REPORT, "REPRISE_REPORT", TEXT, 0, 0, 0, "", \
	  "file for the report (JSON; %p is the process); 'stderr' for one line") \
	X(METRICS, "REPRISE_METRICS", TEXT, 0, 0, 0, "", \
	  "folder for metrics in Prometheus' text format, written once a second while the process runs") \
	X(CUPTI, "REPRISE_CUPTI", WORD, 0, 0, 1, "0|1", \
	  "measure kernels on the GPU with CUPTI, if it is here: for observe, and for a timeline") \
	X(RECORD, "REPRISE_RECORD", TEXT, 0, 0, 0, "", \
	  "file for a recording of the launches, hashes only (%p is the process)") \
	X(RECORD_MOST, "REPRISE_RECORD_MOST", NUMBER, 64, 1, 4096, "", \
	  "MiB that the recording may have") \
	X(TIMELINE, "REPRISE_TIMELINE", TEXT, 0, 0, 0, "", \
	  "file for a timeline, to be opened with Perfetto (%p is the process)") \
	X(TIMELINE_MOST, "REPRISE_TIMELINE_MOST", NUMBER, 64, 1, 4096, "", \
	  "MiB that the timeline may have") \
	X(DOT, "REPRISE_DOT", TEXT, 0, 0, 0, "", "folder for drawings of the graphs, for graphviz") \
	X(CONTROL, "REPRISE_CONTROL", WORD, 0, 0, 1, "0|1", "whether its own user may control the process from outside (reprise ctl)")

/* X(option, old variable): names from before, which count for one release more. */
#define REPRISE_OLD_NAMES(X) X(RECORD, "REPRISE_STREAM") X(RECORD_MOST, "REPRISE_STREAM_MOST")

/* The words of REPRISE, in their order. */
enum reprise_mode {
	REPRISE_MODE_OFF,
	REPRISE_MODE_OBSERVE,
	REPRISE_MODE_ON,
	REPRISE_MODE_VERIFY,
};

/* What Reprise does: as the option says, but OFF before Reprise starts, or where it stands
 * aside. */
extern enum reprise_mode reprise_mode;

enum reprise_option {
#define X(option, ...) REPRISE_OPTION_##option,
	REPRISE_OPTIONS(X)
#undef X
		REPRISE_OPTION_COUNT
};

#define REPRISE_PAYS_MEASURED 0 /* the first word of REPRISE_PAYS */

/* The words of REPRISE_TURNS, in their order. */
enum { REPRISE_TURNS_AUTO, REPRISE_TURNS_NEVER, REPRISE_TURNS_ALWAYS };

struct reprise_option_row {
	const char *variable;
	enum { REPRISE_OPTION_WORD, REPRISE_OPTION_NUMBER, REPRISE_OPTION_TEXT } kind;
	uint64_t standard, least, greatest;
	/* Allowed words, separated by '|', in the order of their values; the default of a TEXT. */
	const char *words;
	const char *help;
};

extern const struct reprise_option_row reprise_option_rows[REPRISE_OPTION_COUNT];

/*
 * Set by the command `reprise` (src/cli/given.c): VARIABLE=value, each followed by a semicolon. The
 * first lists the options that the command has set, the second those that it has checked and named
 * if wrong. Neither holds once the program changes the variable.
 */
#define REPRISE_OPTIONS_SET "_REPRISE_SET"
#define REPRISE_OPTIONS_NAMED "_REPRISE_NAMED"
#define REPRISE_OPTIONS_PREFIX "REPRISE"

/* Reads the environment. Not thread-safe; reprise_start() calls it once. */
void reprise_options_read(void);

#define REPRISE_OPTION_FILE_MOST 512 /* bytes of a file's path */

/* The option of that variable, or old variable; REPRISE_OPTION_COUNT: none. */
enum reprise_option reprise_option_of(const char *variable);

/* Takes a value from that file, unless the environment has one, usable or not. False if it cannot
 * be used. Not thread-safe. */
bool reprise_option_take(enum reprise_option option, const char *text, const char *file);

/* True if the option may have that value. Reads only the table. */
bool reprise_option_accepts(enum reprise_option option, const char *text);

/* The old name of the option's variable; NULL if it has none. */
const char *reprise_option_old_name(enum reprise_option option);

/* The option's text in the environment, usable or not; NULL if there is none. *variable is the name
 * that has it: the old one counts if the new one is not set. */
const char *reprise_option_environment(enum reprise_option option, const char **variable);

#define REPRISE_OPTION_RANGE_MOST 128 /* bytes */

/* The values that the option may have, in words that fit behind "is not": "a number from 0 to
 * 100000 (microseconds)". Returns `words`. */
const char *reprise_option_range(enum reprise_option option, char *words, size_t size);

/* The value of a WORD or NUMBER option. */
uint64_t reprise_option(enum reprise_option option);

/* The value of a TEXT option. Lives as long as the process. */
const char *reprise_option_text(enum reprise_option option);

/* True if the environment or a file gave a usable value. */
int reprise_option_given(enum reprise_option option);

/* The origin of its value: "default", "environment" or "command", or the path of a file. */
const char *reprise_option_origin(enum reprise_option option);
