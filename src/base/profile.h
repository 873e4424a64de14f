/*
 * Profiles: options that a file gives to all programs of a name. PROGRAM.conf is read from the
 * machine's folder, /etc/reprise, and then from the user's, $XDG_CONFIG_HOME/reprise or
 * ~/.config/reprise, which counts more. The environment counts more than both.
 *
 * A line is `OPTION = value`, or it is empty or begins with #. An option is named by its variable
 * (options.h), or as the command names it: `REPRISE_HOLD`, `--hold` or `hold`. Blanks around both
 * are left out. What cannot be used is named, once, and has no effect; of a file with many such
 * lines, the first are named, and the others counted.
 *
 * A file is read only if it is a plain one, of the user or of root, that not everybody may write,
 * of at most REPRISE_PROFILE_MOST bytes. A program with more rights than its user (AT_SECURE) reads
 * none.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/options.h"

#define REPRISE_PROFILES "/etc/reprise" /* the machine's folder */
#define REPRISE_PROFILE_ENDING ".conf"

#define REPRISE_PROFILE_MOST 16384 /* bytes: each option, some twenty, with a long comment */

#define REPRISE_PROFILE_NAMED_MOST 8 /* lines of a file that cannot be used, and are named */

/* PROGRAM of this process: the last part of the path that the kernel was asked to execute. Of a
 * script whose first line names its interpreter, that is the script. */
const char *reprise_profile_program(void);

/* The user's folder. False if there is none. */
bool reprise_profiles_own(char own[PATH_MAX]);

/* Behind reprise_options_read(), and as often. Not thread-safe. */
void reprise_profiles_read(const char *program);

/* One of them, from that folder. */
void reprise_profile_read(const char *folder, const char *program);

/* True if the file is a profile that can be used, and gives the option a value. Says nothing. Not
 * thread-safe. */
bool reprise_profile_gives(const char *path, enum reprise_option option);
