/*
 * The call sites that keep ops from being replayed: the stack of each call (stack.h) and its count.
 * A bounded number of stacks; calls of further ones are only counted. Any thread, no lock. The
 * report finds out whose the frames are, cudart's or the program's (report/caller.h): several
 * stacks may be one call site.
 */
#pragma once

#include <stdint.h>

#include "stats/counters.h"
#include "stats/stack.h"

/* The kinds of calls, once: name in reports, and the effect on the ops around. */
#define REPRISE_CALL_SITE_KINDS(X) \
	X(waits, \
	  "looks at work of any stream, or may: what is deferred is issued first, and a trace ends here") \
	X(ends, "frees or changes what traces may name: the same, and some traces are forgotten") \
	X(allocates, \
	  "takes memory after the first op, though nothing ends by it: slow by itself, and mostly there is a free that goes with it") \
	X(unfit, "an op that cannot be recorded: it is eager, and a trace ends here")

enum reprise_call_site_kind {
#define X(name, text) REPRISE_CALL_SITE_##name,
	REPRISE_CALL_SITE_KINDS(X)
#undef X
		REPRISE_CALL_SITE_KIND_COUNT
};

struct reprise_call_site {
	enum reprise_call_site_kind kind;
	/* An entry point's name, or why the op is unfit. Stays valid. */
	const char *what;
	/* The return addresses of the call and of its callers. */
	const void *frames[REPRISE_STACK_MOST];
	unsigned int depth;
	uint64_t count;
};

#define REPRISE_CALL_SITES_MOST 512

/* The first op came: allocations are counted from now on. */
void reprise_call_sites_begin(void);

/* No lock of Reprise's may be held. */
void reprise_call_site_count(enum reprise_call_site_kind kind, const char *what,
                             const void *address);

static inline void reprise_call_site_note(enum reprise_call_site_kind kind, const char *what,
                                          const void *address)
{
	if (__builtin_expect(reprise_reporting, 0))
		reprise_call_site_count(kind, what, address);
}

/* Slot `i` of REPRISE_CALL_SITES_MOST; `count` is 0 if it is empty. */
struct reprise_call_site reprise_call_site_at(unsigned int i);
/* Calls whose stacks found no room. */
uint64_t reprise_call_sites_left_out(void);

void reprise_call_sites_forget(void);
