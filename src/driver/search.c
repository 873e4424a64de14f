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
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/cache.h"
#include "driver/lookup.h"

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
