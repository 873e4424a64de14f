/* Small work on text: prefixes, file names with %p, misspelt words, amounts, what a terminal may
 * show. Allocates nothing. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

static inline bool reprise_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Writes `pattern` to `path`, with the process's number for every %p. False if the result is empty
 * or does not fit. */
bool reprise_expand(const char *pattern, pid_t process, char *path, size_t size);

/*
 * The name that the fewest typing errors turn into `word`: letters left out, added or replaced, or
 * two neighbours swapped. Ignores case. The first of equally near names. NULL if every name has
 * more than one error for every three of its letters, or if `word` has more than 63 bytes.
 */
const char *reprise_nearest(const char *word, const char *const *names, size_t count);

/* Copies up to `length` bytes of the text, as many as fit. A byte that is not printable ASCII
 * becomes a question mark. Returns the number of bytes. */
size_t reprise_printable(const char *text, size_t length, char *shown, size_t size);

#define REPRISE_AMOUNT_MOST 32

/* 1204331 becomes 1,204,331. Returns `text`. */
const char *reprise_amount_count(unsigned long long value, char text[REPRISE_AMOUNT_MOST]);

/* Three digits, in the unit that fits. Returns `text`. */
const char *reprise_amount_duration(double ns, char text[REPRISE_AMOUNT_MOST]);

#define REPRISE_EXPECTED_MOST 112

/* What replaying would do, as "would ..." goes on: "save about 430 ms of 503 ms launch time", or
 * that it would be slower, by a negative `saved_ns`. Returns `text`. */
const char *reprise_amount_expected(long long saved_ns, unsigned long long launch_time_ns,
                                    char text[REPRISE_EXPECTED_MOST]);
