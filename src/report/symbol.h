/*
 * What code is called: the library that has an address, and the function, by the names that the
 * library exports and by those in its file's own table, which has the others too unless it was
 * stripped. The file is read a piece at a time, and nothing is kept of it; without locks of ours,
 * but not by two threads at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REPRISE_SYMBOL_MOST 1024

struct reprise_symbol {
	const char *library; /* its path, as the loader has it */
	size_t offset; /* of the address, as the library's file counts: what addr2line is to be given */
	char name[REPRISE_SYMBOL_MOST]; /* of the function; empty if nothing tells */
	size_t into;                    /* how far in the function the address is */
};

/* For an address that a call returns to. False if no library has it. */
bool reprise_symbol_find(const void *address, struct reprise_symbol *symbol);
