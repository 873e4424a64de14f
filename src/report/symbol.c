#include "report/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define PIECE 512 /* symbols read at a time */

static bool read_at(int file, void *to, size_t bytes, uint64_t offset)
{
	return pread(file, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* The loaded file, or -1. Its header must be the one in memory: another file may have its name by
 * now. */
static int open_file(const struct link_map *map, const Dl_info *info, ElfW(Ehdr) * header)
{
	int file = open(map->l_name[0] != '\0' ? map->l_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (file >= 0 && read_at(file, header, sizeof(*header), 0) &&
	    memcmp(header, info->dli_fbase, sizeof(*header)) == 0)
		return file;
	if (file >= 0)
		close(file);
	return -1;
}

static bool find_section(int file, const ElfW(Ehdr) * header, uint32_t type, ElfW(Shdr) * section)
{
	for (unsigned int i = 0; i < header->e_shnum; i++)
		if (read_at(file, section, sizeof(*section), header->e_shoff + i * sizeof(*section)) &&
		    section->sh_type == type)
			return true;
	return false;
}

/* The function with the code before `offset`, which is the call that returns there. */
static bool find_function(int file, const ElfW(Shdr) * table, size_t offset, ElfW(Sym) * found)
{
	static ElfW(Sym) piece[PIECE];

	for (uint64_t at = 0; at < table->sh_size; at += sizeof(piece)) {
		uint64_t bytes = table->sh_size - at < sizeof(piece) ? table->sh_size - at : sizeof(piece);

		if (!read_at(file, piece, bytes, table->sh_offset + at))
			return false;
		for (unsigned int i = 0; i < bytes / sizeof(piece[0]); i++) {
			*found = piece[i];
			if (ELF64_ST_TYPE(found->st_info) == STT_FUNC && found->st_shndx != SHN_UNDEF &&
			    offset - 1 - found->st_value < found->st_size)
				return true;
		}
	}
	return false;
}

static void read_name(int file, uint64_t offset, struct reprise_symbol *symbol)
{
	ssize_t length = pread(file, symbol->name, sizeof(symbol->name) - 1, (off_t)offset);

	symbol->name[length > 0 ? length : 0] = '\0';
}

static void look_in_file(int file, const ElfW(Ehdr) * header, struct reprise_symbol *symbol)
{
	ElfW(Shdr) table, names;
	ElfW(Sym) found;

	if (!find_section(file, header, SHT_SYMTAB, &table) ||
	    !find_function(file, &table, symbol->offset, &found) ||
	    !read_at(file, &names, sizeof(names), header->e_shoff + table.sh_link * sizeof(names)))
		return;
	read_name(file, names.sh_offset + found.st_name, symbol);
	symbol->into = symbol->offset - found.st_value;
}

bool reprise_symbol_find(const void *address, struct reprise_symbol *symbol)
{
	struct link_map *map;
	ElfW(Ehdr) header;
	Dl_info info;
	int file;

	if (address == NULL ||
	    dladdr1((const char *)address - 1, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
	    info.dli_fname == NULL)
		return false;
	symbol->library = info.dli_fname;
	symbol->offset = (uintptr_t)address - map->l_addr;
	symbol->name[0] = '\0';
	file = open_file(map, &info, &header);
	if (file >= 0) {
		look_in_file(file, &header, symbol);
		close(file);
	}
	if (symbol->name[0] == '\0' && info.dli_sname != NULL) {
		strncpy(symbol->name, info.dli_sname, sizeof(symbol->name) - 1);
		symbol->into = (size_t)((const char *)address - (const char *)info.dli_saddr);
	}
	return true;
}
