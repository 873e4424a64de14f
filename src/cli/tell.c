/* How doctor says what it has found. Apart from doctor.c, since those that look say it too. */
#include "cli/doctor.h"

#include <stdarg.h>
#include <stdio.h>

void reprise_hindrance_note(char *reason, size_t size, const char *format, ...)
{
	va_list arguments;

	if (reason[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(reason, size, format, arguments);
	va_end(arguments);
}

void reprise_cli_tell(const char *what, const char *format, ...)
{
	va_list arguments;

	printf("  %-*s ", REPRISE_DOCTOR_COLUMN, what);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

void reprise_cli_tell_conflict(const char *what, const char *remedy)
{
	reprise_cli_tell("in the way", "%s", what);
	reprise_cli_tell("", "%s", remedy);
}
