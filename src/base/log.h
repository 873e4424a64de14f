/*
 * Words on stderr. Nothing is allocated, each line is one write(2), and after a fixed number of
 * lines there are no more: a failure that repeats a million times is counted in the report, not
 * told a million times.
 *
 * Words go to the file that stderr was when the program began. If another one has its number, they
 * go nowhere. A library that is loaded later than that, as the stand-in by who opens the driver,
 * cannot know which it was: it says nothing, unless the command has told it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum reprise_log_level {
	REPRISE_LOG_SILENT,
	REPRISE_LOG_WARNING,
	REPRISE_LOG_INFO,
	REPRISE_LOG_DEBUG,
};

/* In the environment, which file the command's stderr is, and so its program's: the device and the
 * inode, in hexadecimal. Not an option: the command alone sets it. */
#define REPRISE_LOG_STDERR "_REPRISE_STDERR"
#define REPRISE_LOG_STDERR_FORM "%llx:%llx"
#define REPRISE_LOG_STDERR_MOST 40

/* Notes which file stderr is. Runs when the library is loaded. Not thread-safe. */
void reprise_log_open(void);

/* Before this is called, warnings are told. */
void reprise_log_level(uint64_t level);

__attribute__((format(printf, 2, 3))) void reprise_log(enum reprise_log_level level,
                                                       const char *format, ...);

/* Whether a word would reach anybody, from this thread. */
bool reprise_log_is_heard(void);

/* Names an option whose value cannot be used, and what it may be; `text` may be anything, of any
 * length. */
void reprise_log_option(const char *variable, const char *text, const char *range);

/* A variable's name is shown up to so many bytes. */
#define REPRISE_LOG_NAME_MOST 64

/* Names a variable that is no option, and the one that was probably meant (NULL: none); `variable`
 * may be anything. */
void reprise_log_unknown(const char *variable, const char *meant);

/* As reprise_log() without a level: what the user asked to be told. */
__attribute__((format(printf, 1, 2))) void reprise_say(const char *format, ...);
