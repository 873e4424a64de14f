#pragma once

#include <stdbool.h>
#include <string.h>

static inline bool reprise_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}
