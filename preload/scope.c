#include "scope.h"

#include <dlfcn.h>
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "driver/loader.h"
#include "driver/search.h"
#include "entry_points.h"

/* ---- what one object defines ---- */

struct symbols {
	const uint32_t *hash;
	const ElfW(Sym) * table;
	const char *names;
};

/* The loader has made these absolute, except in the vdso, which is mapped read-only. */
static const void *address_in(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

/* Of the object's GNU hash table, which all current linkers write. An object without one counts as
 * defining nothing. */
static bool find_symbols(const struct link_map *map, struct symbols *symbols)
{
	*symbols = (struct symbols){NULL, NULL, NULL};
	for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_GNU_HASH)
			symbols->hash = address_in(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_SYMTAB)
			symbols->table = address_in(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			symbols->names = address_in(map, entry->d_un.d_ptr);
	}
	return symbols->hash != NULL && symbols->table != NULL && symbols->names != NULL;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

void *reprise_own_definition(const struct link_map *map, const char *name)
{
	struct symbols symbols;

	if (!find_symbols(map, &symbols))
		return NULL;

	/* The table's layout: header, Bloom filter, buckets, then one chain word for each symbol from
	 * `first` on. */
	uint32_t bucket_count = symbols.hash[0];
	uint32_t first = symbols.hash[1];
	const uint32_t *buckets =
		symbols.hash + 4 + symbols.hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = buckets + bucket_count;
	uint32_t hash = hash_of(name);
	uint32_t index = bucket_count != 0 ? buckets[hash % bucket_count] : 0;

	for (bool last = index < first; !last; index++) {
		const ElfW(Sym) *symbol = &symbols.table[index];

		if ((chain[index - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    strcmp(symbols.names + symbol->st_name, name) == 0)
			return (void *)(map->l_addr + symbol->st_value);
		last = chain[index - first] & 1;
	}
	return NULL;
}

/* ---- what several do ---- */

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
