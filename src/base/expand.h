/* Names of files in which the process stands as %p. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes `pattern` to `path` with the process's number in the place of every %p. False if that is
 * empty, or does not fit. */
bool reprise_expand(const char *pattern, pid_t process, char *path, size_t size);
