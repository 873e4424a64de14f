/* The loader's cache of library paths. The loader itself offers no query. */
#pragma once

#define REPRISE_CACHE_FILE "/etc/ld.so.cache"

/*
 * Calls `try` with the path of each library of that name, in the order of the file `cache`, until
 * it returns a result, and returns that. NULL if there is none, or if the file has another format
 * than that of current C libraries. Takes no lock and allocates nothing.
 */
void *reprise_cache_each(const char *cache, const char *name,
                         void *(*try)(const char *path, int flags), int flags);
