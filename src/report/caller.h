/*
 * Whose a call is: of the frames of a stack, cudart's own are passed over, and what called the
 * runtime API is the caller.
 *
 * A shared cudart is known by its name. A static one is in the program's file or in a library's,
 * and is known by names of functions: there are its inner ones, whose names nobody else has, and
 * above them the one of the API. A file that was stripped of these names does not tell, and then
 * the caller is who called the driver.
 */
#pragma once

#include "stats/sites.h"

#define REPRISE_RUNTIME_NAME_MOST 64

struct reprise_caller {
	const void *address;                     /* what its call returns to */
	char runtime[REPRISE_RUNTIME_NAME_MOST]; /* the function of the runtime API that it called;
	                                            empty if it called the driver, or nothing tells */
};

/* Not by two threads at once. */
void reprise_caller_find(const struct reprise_call_site *place, struct reprise_caller *caller);
