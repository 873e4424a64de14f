/* Reads the object's GNU hash table, which all current linkers write. An object without one counts
 * as defining nothing. */
#include "definition.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
