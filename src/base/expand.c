#include "base/expand.h"

#include <stdio.h>
#include <string.h>

bool reprise_expand(const char *pattern, pid_t process, char *path, size_t size)
{
	size_t length = 0;

	for (const char *mark; (mark = strstr(pattern, "%p")) != NULL && length < size;
	     pattern = mark + 2)
		length += (size_t)snprintf(path + length, size - length, "%.*s%d", (int)(mark - pattern),
		                           pattern, (int)process);
	if (length < size)
		length += (size_t)snprintf(path + length, size - length, "%s", pattern);
	return length > 0 && length < size;
}
