/* Makes any text safe to show on a terminal. */
#pragma once

#include <stddef.h>

/* Copies up to `length` bytes of the text, as many as fit. A byte that is not printable ASCII
 * becomes a question mark. Returns the number of bytes. */
static inline size_t reprise_printable(const char *text, size_t length, char *shown, size_t size)
{
	size_t i = 0;

	for (; i < length && i < size - 1 && text[i] != '\0'; i++)
		shown[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	shown[i] = '\0';
	return i;
}
