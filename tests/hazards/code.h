/* Where the code of libreprise.so is, for libraries that do something for Reprise's calls alone. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uintptr_t begin, end;                        /* 0 until code_find() has found it */
__attribute__((unused)) static uintptr_t code_base; /* where the library is loaded */

static int code_look(struct dl_phdr_info *library, size_t size, void *unused)
{
	const char *name = strrchr(library->dlpi_name, '/');

	(void)size;
	(void)unused;
	if (!name || strcmp(name, "/libreprise.so") != 0)
		return 0;
	code_base = library->dlpi_addr;
	for (int i = 0; i < library->dlpi_phnum; i++) {
		if (library->dlpi_phdr[i].p_type != PT_LOAD || !(library->dlpi_phdr[i].p_flags & PF_X))
			continue;
		begin = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
		end = begin + library->dlpi_phdr[i].p_memsz;
	}
	return 1;
}

static void code_find(void)
{
	dl_iterate_phdr(code_look, NULL);
}

static bool code_has(const void *caller)
{
	return (uintptr_t)caller - begin < end - begin;
}
