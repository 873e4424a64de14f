/*
 * Finds the library and the function at an address. The library's exported names are used, and its
 * file's symbol table, which has the others too unless it was stripped. Reads the file piece by
 * piece and keeps nothing. Takes no lock of Reprise's; not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REPRISE_SYMBOL_MOST 1024

struct reprise_symbol {
	const char *library;            /* its path, from the loader */
	size_t offset;                  /* address in the library's file, for addr2line */
	char name[REPRISE_SYMBOL_MOST]; /* of the function; empty if unknown */
	size_t into;                    /* distance of the address from the function's start */
};

/* `address` is a return address. False if it is in no library. */
bool reprise_symbol_find(const void *address, struct reprise_symbol *symbol);
