/*
 * Tools that work on the same process: debuggers, checkers, profilers, and settings of the driver
 * for them. Each row of the table in tools.c is a sign of one, and a decision: Reprise stands aside
 * (behaves as if off), or works beside it. docs/tools.md describes them at length; a test compares
 * the two.
 */
#pragma once

#include <stdbool.h>

struct reprise_tool {
	enum {
		REPRISE_TOOL_VARIABLE, /* the environment has the variable, neither empty nor 0 */
		REPRISE_TOOL_LIBRARY,  /* a library whose file name begins so is loaded */
		REPRISE_TOOL_TRACER,   /* a process whose name begins so traces this one; "" is any */
	} kind;
	const char *sign;
	bool aside;
	const char *name;
	const char *why;
};

/* Looks for tools and decides. Once, before CUDA is used; the caller's lock ensures that. Takes no
 * lock, not the loader's either, and allocates nothing. True if Reprise has to stand aside. */
bool reprise_tools_look(bool ignore);

/*
 * The library that listens to NVTX: as NVTX_INJECTION64_PATH says, or where that is Reprise itself
 * (src/api/nvtx.c), as it said before the command `reprise` changed it. NULL: there is none.
 */
#define REPRISE_LISTENER "NVTX_INJECTION64_PATH"
#define REPRISE_LISTENER_BEFORE "_REPRISE_NVTX_BEFORE"

const char *reprise_tool_listener(void);

/* True if the path is that of a library of Reprise's. */
bool reprise_tool_listener_is_ours(const char *path);

/* The tool that decided, else the first that was found; NULL if none. */
const struct reprise_tool *reprise_tool_found(void);

/* True if Reprise stands aside for that tool. */
bool reprise_tool_aside(void);
