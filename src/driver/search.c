/*
 * Opens the driver by path. In a process with a stand-in, the loader answers the name libcuda.so.1
 * with the stand-in for good, as the first object of that name. So each folder that the loader
 * searches for this object is tried, then the loader's cache.
 *
 * May run inside the loader's lock (a constructor that calls CUDA): takes no lock, and keeps the
 * list of folders on the stack.
 */
#include "driver/search.h"

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/loader.h"

/* ---- the loader's cache ---- */

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

/* Checks every offset before it follows it: another process may replace the file's content while
 * this reads it, but not cut the file short. */
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

/* ---- the driver ---- */

bool reprise_is_stand_in(void *handle)
{
	bool found = reprise_real_dlsym(handle, REPRISE_STAND_IN_MARK) != NULL;

	if (!found)
		(void)dlerror();
	return found;
}

static void *open_path(const char *path, int flags)
{
	void *handle = dlopen(path, flags);

	if (handle == NULL || !reprise_is_stand_in(handle))
		return handle;
	dlclose(handle);
	return NULL;
}

static void *open_in(const char *folder, int flags)
{
	char path[4096];

	return snprintf(path, sizeof(path), "%s/" REPRISE_DRIVER_NAME, folder) < (int)sizeof(path)
	           ? open_path(path, flags)
	           : NULL;
}

void *reprise_driver_open_past(void *stand_in, int flags)
{
	Dl_serinfo size;
	Dl_serinfo *folders;
	void *handle = NULL;

	if (dlinfo(stand_in, RTLD_DI_SERINFOSIZE, &size) != 0)
		return NULL;
	folders = alloca(size.dls_size);
	*folders = size;
	if (dlinfo(stand_in, RTLD_DI_SERINFO, folders) != 0)
		return NULL;
	for (unsigned int i = 0; i < folders->dls_cnt && handle == NULL; i++)
		handle = open_in(folders->dls_serpath[i].dls_name, flags);
	return handle != NULL
	           ? handle
	           : reprise_cache_each(REPRISE_CACHE_FILE, REPRISE_DRIVER_NAME, open_path, flags);
}

/* True if the handle is that of the object with this function. */
static bool is_ourselves(void *handle)
{
	struct link_map *theirs = NULL;
	struct link_map *ours = NULL;
	Dl_info info;

	return dlinfo(handle, RTLD_DI_LINKMAP, &theirs) == 0 &&
	       dladdr1((void *)(uintptr_t)is_ourselves, &info, (void **)&ours, RTLD_DL_LINKMAP) != 0 &&
	       ours == theirs;
}

void *reprise_driver_open(int flags)
{
	void *handle = dlopen(REPRISE_DRIVER_NAME, flags);

	if (handle != NULL && is_ourselves(handle))
		handle = reprise_driver_open_past(handle, flags);
	if (handle == NULL)
		(void)dlerror(); /* the program did not ask, so it must find no error */
	return handle;
}

/* ---- its release ---- */

void reprise_release_of(const char *line, char *release, size_t size)
{
	release[0] = '\0';
	for (size_t length; *line != '\0' && *line != '\n';
	     line += length + strspn(line + length, " \t")) {
		length = strcspn(line, " \t\n");
		if (length > 0 && length < size && strspn(line, "0123456789.") == length &&
		    memchr(line, '.', length) != NULL) {
			memcpy(release, line, length);
			release[length] = '\0';
			return;
		}
	}
}

void reprise_release_read(const char *path, char *release, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : 0;

	if (file >= 0)
		close(file);
	text[length > 0 ? length : 0] = '\0';
	reprise_release_of(text, release, size);
}
