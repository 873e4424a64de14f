/* Text that is written to a file piece by piece, so that no report is too long. Allocates nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reprise_text {
	int file;
	int error; /* of writing; 0 if there was none */
	size_t length;
	char bytes[16384]; /* not written yet */
};

/* As printf(3); one call adds fewer characters than fit into `bytes`. */
__attribute__((format(printf, 2, 3))) void reprise_text_add(struct reprise_text *text,
                                                            const char *format, ...);

/* A JSON string of `length` bytes, whatever they are: what is not ASCII becomes an escape, each
 * byte for itself. */
void reprise_text_add_string(struct reprise_text *text, const char *bytes, size_t length);

/* One of several values: what stands between it and the one before. *any: there was one. The second
 * for values on lines of their own. */
const char *reprise_text_comma(bool *any);
const char *reprise_text_line(bool *any);

/* A list, and an object of named numbers, as members of that name. */
void reprise_text_add_list(struct reprise_text *text, const char *name, const uint64_t *values,
                           unsigned int count);
void reprise_text_add_named(struct reprise_text *text, const char *name, const char *const *names,
                            const uint64_t *values, unsigned int count);

/* Writes what is left. 0 if everything was written, or the first error. */
int reprise_text_end(struct reprise_text *text);
