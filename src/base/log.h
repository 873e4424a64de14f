/*
 * Messages on stderr. Nothing is allocated, and each line is one write(2). After a fixed number of
 * lines there are no more: a failure that repeats is counted in the report.
 *
 * Messages go to the file that stderr was when the program began. If another file has its number,
 * they are dropped. A library that is loaded later (the stand-in, by the library that opens the
 * driver) cannot know that file: it writes nothing, unless the command has named the file.
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

/* The environment variable with which the command names its stderr, and so its program's: device
 * and inode, in hexadecimal. Not an option: only the command sets it. */
#define REPRISE_LOG_STDERR "_REPRISE_STDERR"
#define REPRISE_LOG_STDERR_FORM "%llx:%llx"
#define REPRISE_LOG_STDERR_MOST 40

/* Notes which file stderr is. Runs when the library is loaded. Not thread-safe. */
void reprise_log_open(void);

/* Sets the level, which is warnings before. */
void reprise_log_level(uint64_t level);

__attribute__((format(printf, 2, 3))) void reprise_log(enum reprise_log_level level,
                                                       const char *format, ...);

/* True if a message from this thread would be written. */
bool reprise_log_is_heard(void);

/* Warns of an option whose value cannot be used, and says which values can. `text` may be anything,
 * of any length. */
void reprise_log_option(const char *variable, const char *text, const char *range);

/* The size of a variable's name in messages, in bytes. */
#define REPRISE_LOG_NAME_MOST 64

/* Warns of a variable that is no option, and names the one probably meant (NULL: none). `variable`
 * may be anything. */
void reprise_log_unknown(const char *variable, const char *meant);

/* As reprise_log() without a level, for what the user asked for. */
__attribute__((format(printf, 1, 2))) void reprise_say(const char *format, ...);
