#include "scope.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "driver/loader.h"
#include "driver/search.h"
#include "definition.h"
#include "door.h"

struct link_map *reprise_scope_object(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

static void *find(void *handle, const char *name)
{
	void *address = reprise_real_dlsym(handle, name);

	if (address == NULL)
		(void)dlerror();
	return address;
}

void *reprise_scope_of_caller(const void *caller, const char *name)
{
	const struct link_map *map = reprise_scope_object(caller);
	void *handle =
		map != NULL && map->l_name[0] != '\0' ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *address;

	if (handle == NULL) {
		(void)dlerror();
		return NULL;
	}
	address = find(handle, name);
	dlclose(handle);
	return address;
}

static bool has_drivers_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash != NULL ? slash + 1 : path, REPRISE_DRIVER_NAME) == 0;
}

bool reprise_scope_is_drivers(const void *address)
{
	const struct link_map *map = reprise_scope_object(address);

	return map != NULL && has_drivers_name(map->l_name);
}

/* Checks several names that other layers over the driver hardly have all. */
bool reprise_scope_has_driver(void)
{
	static const char *const names[] = {"cuInit", "cuDriverGetVersion", "cuGetErrorName",
	                                    "cuGetExportTable"};
	bool has = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !has; i++) {
		void *address = find(RTLD_NEXT, names[i]);

		has = address != NULL && reprise_scope_is_drivers(address);
	}
	return has;
}

struct definition {
	const char *name;
	void *address;
};

static int look(struct dl_phdr_info *object, size_t size, void *data)
{
	struct link_map map = {.l_addr = object->dlpi_addr};
	struct definition *definition = data;
	void *address;

	if (has_drivers_name(object->dlpi_name))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			map.l_ld = (ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	address = reprise_own_definition(&map, definition->name);
	if (address == NULL || reprise_is_exported(address))
		return 0;
	definition->address = address;
	return 1;
}

void *reprise_scope_other_definition(const char *name)
{
	struct definition definition = {name, NULL};

	dl_iterate_phdr(look, &definition);
	return definition.address;
}
