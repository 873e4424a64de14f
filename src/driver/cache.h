/* The loader's cache of where libraries are, which the loader itself does not let others ask. */
#pragma once

#define REPRISE_CACHE_FILE "/etc/ld.so.cache"

/*
 * Calls `try` with the path of each library of that name, in the order of the file `cache`, until
 * it returns something, and returns that. NULL if there is none, or if the file is not what current
 * C libraries write. Takes no lock and allocates nothing.
 */
void *reprise_cache_each(const char *cache, const char *name,
                         void *(*try)(const char *path, int flags), int flags);
