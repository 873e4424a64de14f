/* Checks every offset before it follows it: another process may replace the file's content while
 * this reads it, but not cut the file short. */
#include "driver/cache.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "glibc-ld.so.cache1.1"

/* As glibc has written it since 2.2, and without the older format in front since 2.32. */
struct cache {
	char magic[sizeof(MAGIC) - 1];
	uint32_t count;
	uint32_t unused[6];
	struct {
		int32_t kind;
		uint32_t name, path; /* offsets in the file */
		uint32_t unused[3];
	} libraries[];
};

static const char *string_at(const struct cache *cache, size_t size, uint32_t offset)
{
	return offset < size && memchr((const char *)cache + offset, '\0', size - offset) != NULL
	           ? (const char *)cache + offset
	           : NULL;
}

static void *each(const struct cache *cache, size_t size, const char *name,
                  void *(*try)(const char *, int), int flags)
{
	void *found = NULL;

	if (size < sizeof(*cache) || memcmp(cache->magic, MAGIC, sizeof(cache->magic)) != 0 ||
	    cache->count > (size - sizeof(*cache)) / sizeof(cache->libraries[0]))
		return NULL;
	for (uint32_t i = 0; i < cache->count && found == NULL; i++) {
		const char *known = string_at(cache, size, cache->libraries[i].name);
		const char *path = string_at(cache, size, cache->libraries[i].path);

		if (known != NULL && path != NULL && strcmp(known, name) == 0)
			found = try(path, flags);
	}
	return found;
}

void *reprise_cache_each(const char *cache, const char *name,
                         void *(*try)(const char *path, int flags), int flags)
{
	int file = open(cache, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *found = NULL;

	if (file < 0)
		return NULL;
	if (fstat(file, &status) == 0 && status.st_size > 0) {
		size_t size = (size_t)status.st_size;
		void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);

		if (bytes != MAP_FAILED) {
			found = each(bytes, size, name, try, flags);
			munmap(bytes, size);
		}
	}
	close(file);
	return found;
}
