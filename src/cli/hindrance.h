/* What `reprise doctor` found that affects its verdict. The first of each kind is kept. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

struct reprise_hindrances {
	/* Why no program can be preloaded here; "" if that is possible. */
	char preloading[512];
	char replaying[512]; /* why nothing would be replayed */
};

/* Keeps the reason, a part of a sentence, unless there is one already. */
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
