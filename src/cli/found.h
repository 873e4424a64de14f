/* The reports that a program's processes have written, wherever they were told to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct reprise_found {
	char **paths; /* in the order of their names */
	size_t count;
	char *unusable; /* the first that is there and not whole, or cannot be read; NULL if none */
};

/*
 * Looks for those of processes that the command with that mark started. `pattern` is as the library
 * has it: %p is a process. Where another process had the name already, its number is behind it.
 */
void reprise_found_look(struct reprise_found *found, const char *pattern, const char *mark);
void reprise_found_free(struct reprise_found *found);
