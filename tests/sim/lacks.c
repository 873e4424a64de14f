/*
 * A driver that lacks entry points. Before the program's first look-up, their symbols are made
 * undefined in the table by which the loader finds names: dlsym and programs that are bound lazily
 * then find none. Calls within the simulation are bound already, and stay as they are.
 */
#include "lacks.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME_MOST 128

bool sim_lacks(const char *name)
{
	const char *listed = getenv("SIM_LACKS");
	char pattern[NAME_MOST];

	for (size_t length; listed && *listed; listed += length + (listed[length] == ',')) {
		length = strcspn(listed, ",");
		if (length >= sizeof(pattern))
			abort();
		memcpy(pattern, listed, length);
		pattern[length] = '\0';
		if (fnmatch(pattern, name, 0) == 0)
			return true;
	}
	return false;
}

static void take_away(ElfW(Sym) * symbol)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = (uintptr_t)symbol & ~(page - 1), end = (uintptr_t)(symbol + 1);

	if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) != 0)
		abort();
	symbol->st_shndx = SHN_UNDEF;
	symbol->st_value = 0;
}

__attribute__((constructor)) static void take_all_away(void)
{
	const ElfW(Sym) *symbols = NULL;
	const char *names = NULL;
	struct link_map *map;
	Dl_info info;

	if (!getenv("SIM_LACKS") ||
	    dladdr1((void *)(uintptr_t)sim_lacks, &info, (void **)&map, RTLD_DL_LINKMAP) == 0)
		return;
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
		if (entry->d_tag == DT_STRTAB)
			names = (const char *)entry->d_un.d_ptr;
	}
	/* The linker puts the names behind the symbols. */
	for (const ElfW(Sym) *symbol = symbols + 1; (const char *)(symbol + 1) <= names; symbol++)
		if (symbol->st_shndx != SHN_UNDEF && strncmp(names + symbol->st_name, "cu", 2) == 0 &&
		    sim_lacks(names + symbol->st_name))
			take_away((ElfW(Sym) *)(uintptr_t)symbol);
}
