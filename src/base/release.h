/* The release of the driver's kernel module, from /proc/driver/nvidia/version. */
#pragma once

#include <stddef.h>

#define REPRISE_RELEASE_FILE "/proc/driver/nvidia/version"

/*
 * Finds it in the file's first line: the first word of digits and dots. Known lines are "NVRM
 * version: NVIDIA UNIX x86_64 Kernel Module 580.82.07 Fri ..." and "... Open Kernel Module for
 * x86_64 580.159.04 Release Build ...". Writes "" if there is none.
 */
void reprise_release_of(const char *line, char *release, size_t size);

/* The same for a file; "", too, if it cannot be read. */
void reprise_release_read(const char *path, char *release, size_t size);
