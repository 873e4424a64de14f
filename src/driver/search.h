/* Finds the real driver, also where this object stands in for it: as libcuda.so.1 in a folder that
 * the loader searches before the driver's own. And the release of its kernel module. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REPRISE_DRIVER_NAME "libcuda.so.1"

/* A symbol that every stand-in exports, and no driver. */
#define REPRISE_STAND_IN_MARK "reprise_stand_in"

/* The driver's handle, as from dlopen(3) with these flags. NULL if there is no driver, or with
 * RTLD_NOLOAD none in this process. Leaves no error for the program to find. */
void *reprise_driver_open(int flags);

/* True if the object is a stand-in, this one or another. */
bool reprise_is_stand_in(void *handle);

/* The first driver in the folders that the loader searches for the object of that handle, and in
 * the loader's cache; NULL if there is none. */
void *reprise_driver_open_past(void *stand_in, int flags);

#define REPRISE_CACHE_FILE "/etc/ld.so.cache"

/*
 * The loader's cache of library paths; the loader itself offers no query. Calls `try` with the path
 * of each library of that name, in the order of the file `cache`, until it returns a result, and
 * returns that. NULL if there is none, or if the file has another format than that of current C
 * libraries. Takes no lock and allocates nothing.
 */
void *reprise_cache_each(const char *cache, const char *name,
                         void *(*try)(const char *path, int flags), int flags);

#define REPRISE_RELEASE_FILE "/proc/driver/nvidia/version"

/*
 * The release of the driver's kernel module, from that file's first line: the first word of digits
 * and dots. Known lines are "NVRM version: NVIDIA UNIX x86_64 Kernel Module 580.82.07 Fri ..."
 * and "... Open Kernel Module for x86_64 580.159.04 Release Build ...". Writes "" if there is none.
 */
void reprise_release_of(const char *line, char *release, size_t size);

/* The same for a file; "", too, if it cannot be read. */
void reprise_release_read(const char *path, char *release, size_t size);
