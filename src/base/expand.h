/* File names in which %p stands for the process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes `pattern` to `path`, with the process's number for every %p. False if the result is empty
 * or does not fit. */
bool reprise_expand(const char *pattern, pid_t process, char *path, size_t size);
