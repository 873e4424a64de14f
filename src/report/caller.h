/* Whose a call is: the library and the function at an address, and the caller of a call. Takes no
 * lock of Reprise's. Not thread-safe. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "stats/sites.h"

#define REPRISE_SYMBOL_MOST 1024

struct reprise_symbol {
	const char *library;            /* its path, from the loader */
	size_t offset;                  /* address in the library's file, for addr2line */
	char name[REPRISE_SYMBOL_MOST]; /* of the function; empty if unknown */
	size_t into;                    /* distance of the address from the function's start */
};

/*
 * The library and the function at an address, a return address. The library's exported names are
 * used, and its file's symbol table, which has the others too unless it was stripped. Reads the
 * file piece by piece and keeps nothing. False if it is in no library.
 */
bool reprise_symbol_find(const void *address, struct reprise_symbol *symbol);

#define REPRISE_RUNTIME_NAME_MOST 64

struct reprise_caller {
	const void *address; /* the call's return address */
	/* The runtime API's function that was called; empty if it was the driver's, or if it is
	 * unknown. */
	char runtime[REPRISE_RUNTIME_NAME_MOST];
};

/*
 * Skips cudart's frames in a stack, and returns the frame that called the runtime API.
 *
 * A shared cudart is known by its file's name. A static one is part of the program's file or of a
 * library: it is known by its internal functions' names, with the API function above them. In a
 * stripped file the caller is the function that called the driver.
 */
void reprise_caller_find(const struct reprise_call_site *site, struct reprise_caller *caller);
