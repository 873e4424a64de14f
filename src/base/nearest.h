/* The name that was probably meant by a word that is none. */
#pragma once

#include <stddef.h>

/*
 * The name that the fewest typing errors turn into `word`: letters left out, added, replaced, or
 * two neighbours swapped. Capital and small letters are the same. NULL if every name is too far
 * away: more than one error for every three letters of the name; or if `word` has more than 63
 * bytes. Of names that are equally near, the first. Allocates nothing; from any thread.
 */
const char *reprise_nearest(const char *word, const char *const *names, size_t count);
