/* Text that is written to a file piece by piece, so a report may have any length. Allocates
 * nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reprise_text {
	int file;
	int error; /* the first error of writing; 0: none */
	size_t length;
	char bytes[16384]; /* not written yet */
};

/* As printf(3). One call must add less than `bytes` holds. */
__attribute__((format(printf, 2, 3))) void reprise_text_add(struct reprise_text *text,
                                                            const char *format, ...);

/* Adds a JSON string of `length` arbitrary bytes: each byte that is not printable ASCII becomes an
 * escape. */
void reprise_text_add_string(struct reprise_text *text, const char *bytes, size_t length);

/* The separator before the next of several values; *any tells if there was one before. The second
 * puts each value on its own line. */
const char *reprise_text_comma(bool *any);
const char *reprise_text_line(bool *any);

/* A list, or an object of named numbers, as a member of that name. */
void reprise_text_add_list(struct reprise_text *text, const char *name, const uint64_t *values,
                           unsigned int count);
void reprise_text_add_named(struct reprise_text *text, const char *name, const char *const *names,
                            const uint64_t *values, unsigned int count);

/* Writes what is left. Returns the first error, 0 for none. */
int reprise_text_end(struct reprise_text *text);
