/*
 * Tools that work on the same process: debuggers, checkers, profilers, and settings of the driver
 * that are made for them. Each row of the table in tools.c is a sign by which one is known, and a
 * decision: Reprise stands aside (it behaves as if it were off), or works beside it. docs/tools.md
 * says the same at length; a test compares the two.
 */
#pragma once

#include <stdbool.h>

struct reprise_tool {
	enum {
		REPRISE_TOOL_VARIABLE, /* the environment has the variable, neither empty nor 0 */
		REPRISE_TOOL_LIBRARY,  /* a library whose file name begins so is in the process */
		REPRISE_TOOL_TRACER,   /* a process whose name begins so traces this one; "" is any */
	} kind;
	const char *sign;
	bool aside;
	const char *name;
	const char *why;
};

/*
 * Looks for them, and decides; once, before CUDA is used, under whatever lock makes it once. Takes
 * no lock, so not the loader's either, and allocates nothing. True if Reprise is to stand aside.
 */
bool reprise_tools_look(bool ignore);

/* The tool that decided, or else the first that was seen; NULL if there was none. */
const struct reprise_tool *reprise_tool_found(void);

/* Whether Reprise stands aside for it. */
bool reprise_tool_aside(void);
