/* Finds the name that a misspelt word probably means. */
#pragma once

#include <stddef.h>

/*
 * The name that the fewest typing errors turn into `word`: letters left out, added or replaced, or
 * two neighbours swapped. Ignores case. The first of equally near names. NULL if every name has
 * more than one error for every three of its letters, or if `word` has more than 63 bytes.
 * Allocates nothing. Any thread.
 */
const char *reprise_nearest(const char *word, const char *const *names, size_t count);
