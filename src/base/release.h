/* The release of the driver's kernel module, of /proc/driver/nvidia/version. */
#pragma once

#include <stddef.h>

#define REPRISE_RELEASE_FILE "/proc/driver/nvidia/version"

/*
 * Finds it in the file's first line: the first word of digits and dots. There is a line "NVRM
 * version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Fri ...", and one "... Open Kernel Module
 * for x86_64  580.159.04  Release Build ...". Writes "" if there is none.
 */
void reprise_release_of(const char *line, char *release, size_t size);

/* The same of a file; "", too, where it cannot be read. */
void reprise_release_read(const char *path, char *release, size_t size);
