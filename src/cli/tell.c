#include "cli/tell.h"

#include <stdarg.h>
#include <stdio.h>

void reprise_cli_tell(const char *what, const char *format, ...)
{
	va_list arguments;

	printf("  %-16s ", what);
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
