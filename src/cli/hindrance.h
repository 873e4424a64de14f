/* What `reprise doctor` has found to be in the way, as far as the verdict depends on it. The first
 * of each kind is kept. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

struct reprise_hindrances {
	char preloading[512]; /* why nothing can be preloaded here, whatever the program; "" if that can
	                         be */
	char replaying[512];  /* why nothing would be replayed all the same */
};

/* Keeps the reason, as part of a sentence, unless there is one already. */
__attribute__((format(printf, 3, 4))) static inline void reprise_hindrance_note(char *reason,
                                                                                size_t size,
                                                                                const char *format,
                                                                                ...)
{
	va_list arguments;

	if (reason[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(reason, size, format, arguments);
	va_end(arguments);
}
