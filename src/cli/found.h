/* The reports that a program's processes have written, wherever these are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct reprise_found {
	char **paths; /* sorted by name */
	size_t count;
	/* The first report that is not whole or cannot be read; NULL if there is none. */
	char *unusable;
};

/* Finds the reports of processes that the command with that mark started. `pattern` is
 * the library's: %p is the process. If another process's file had the name, the process
 * id follows it. */
void reprise_found_look(struct reprise_found *found, const char *pattern, const char *mark);
void reprise_found_free(struct reprise_found *found);
