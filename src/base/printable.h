/* Words that may hold anything, to be shown on a terminal. */
#pragma once

#include <stddef.h>

/* Copies `length` bytes of the text, or what there is: as many as fit. What is no letter of ASCII
 * is a question mark. Returns how many. */
static inline size_t reprise_printable(const char *text, size_t length, char *shown, size_t size)
{
	size_t i = 0;

	for (; i < length && i < size - 1 && text[i] != '\0'; i++)
		shown[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	shown[i] = '\0';
	return i;
}
