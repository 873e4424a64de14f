#include "report/caller.h"

#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* ---- the function at an address ---- */

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

/* ---- the caller of a call ---- */

/* A shared cudart, or the driver. */
static bool is_runtime_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	return reprise_begins(name, "libcudart") || reprise_begins(name, "libcuda.so");
}

/* Internal functions of a static cudart, whose names are used nowhere else. */
static bool is_inner(const char *name)
{
	return reprise_begins(name, "libcudart_static_") || reprise_begins(name, "__cudart");
}

/* The functions that programs call, and code that nvcc writes. */
static bool is_api(const char *name)
{
	name += reprise_begins(name, "__") ? 2 : 0;
	return reprise_begins(name, "cuda") && isupper((unsigned char)name[4]);
}

/* A template of the runtime's headers, such as cudaMalloc<float>, compiled as a function of its
 * own. */
static bool is_template(const char *name)
{
	if (!reprise_begins(name, "_Z"))
		return false;
	name += strcspn(name, "0123456789");
	return is_api(name + strspn(name, "0123456789")) && strstr(name, "E9cudaError") != NULL;
}

/* True if the frame is the runtime's; then the next one may be, too. Keeps the name of the API
 * function called. */
static bool is_runtime(const struct reprise_symbol *symbol, bool first, char *runtime)
{
	bool library = is_runtime_library(symbol->library);

	if (!library && is_inner(symbol->name))
		return true;
	if (!library && runtime[0] != '\0')
		return is_template(symbol->name);
	if (!is_api(symbol->name) || (first && !library))
		return library;
	memcpy(runtime, symbol->name, strnlen(symbol->name, REPRISE_RUNTIME_NAME_MOST - 1));
	return true;
}

void reprise_caller_find(const struct reprise_call_site *site, struct reprise_caller *caller)
{
	static struct reprise_symbol symbol;

	memset(caller, 0, sizeof(*caller));
	for (unsigned int i = 0; i < site->depth; i++) {
		caller->address = site->frames[i];
		if (!reprise_symbol_find(caller->address, &symbol) ||
		    !is_runtime(&symbol, i == 0, caller->runtime))
			return;
	}
	caller->address = site->frames[0];
	caller->runtime[0] = '\0';
}
