/*
 * Finds the caller of a call: skips cudart's frames in a stack, and returns the frame that called
 * the runtime API.
 *
 * A shared cudart is known by its file's name. A static one is part of the program's file or of a
 * library: it is known by its internal functions' names, with the API function above them. In a
 * stripped file the caller is the function that called the driver.
 */
#pragma once

#include "stats/sites.h"

#define REPRISE_RUNTIME_NAME_MOST 64

struct reprise_caller {
	const void *address; /* the call's return address */
	/* The runtime API's function that was called; empty if it was the driver's, or if it is
	 * unknown. */
	char runtime[REPRISE_RUNTIME_NAME_MOST];
};

/* Not thread-safe. */
void reprise_caller_find(const struct reprise_call_site *site, struct reprise_caller *caller);
