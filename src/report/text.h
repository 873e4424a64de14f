/* Text that is written to a file piece by piece, so that no report is too long. On the writer's stack; allocates nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct reprise_text {
	int file;
	bool failed;
	size_t length;
	char bytes[1024]; /* not written yet */
};

/* As printf(3); one call adds fewer characters than fit into `bytes`. */
__attribute__((format(printf, 2, 3))) void reprise_text_add(struct reprise_text *text, const char *format, ...);

/* A JSON string of `length` bytes, whatever they are: what is not ASCII becomes an escape, each byte for itself. */
void reprise_text_add_string(struct reprise_text *text, const char *bytes, size_t length);

/* Writes what is left. True if everything was written. */
bool reprise_text_end(struct reprise_text *text);
