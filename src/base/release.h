/* The release of the driver's kernel module, of /proc/driver/nvidia/version. */
#pragma once

#include <stddef.h>
#include <string.h>

#define REPRISE_RELEASE_FILE "/proc/driver/nvidia/version"

/*
 * Finds it in the file's first line: the first word of digits and dots. There is a line "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Fri ...",
 * and one "... Open Kernel Module for x86_64  580.159.04  Release Build ...". Writes "" if there is none.
 */
static inline void reprise_release_of(const char *line, char *release, size_t size)
{
	release[0] = '\0';
	for (size_t length; *line != '\0' && *line != '\n'; line += length + strspn(line + length, " \t")) {
		length = strcspn(line, " \t\n");
		if (length > 0 && length < size && strspn(line, "0123456789.") == length && memchr(line, '.', length) != NULL) {
			memcpy(release, line, length);
			release[length] = '\0';
			return;
		}
	}
}
