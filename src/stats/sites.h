/*
 * Where in the program stand the calls that keep ops from being replayed: the stack of a call
 * (stack.h), and how often it came by that. A bounded number of stacks; those that find no room are
 * only counted. Any thread, no lock. Whose the frames are, cudart's or the program's, is found out
 * when a report is written (caller.h): several stacks may turn out to be one place.
 */
#pragma once

#include <stdint.h>

#include "stats/counters.h"
#include "stats/stack.h"

/* Each kind of call, once: name in reports, and what it does to the ops around it. */
#define REPRISE_CALL_SITE_KINDS(X) \
	X(waits, \
	  "looks at work of any stream, or may: what is deferred is issued first, and a trace ends here") \
	X(ends, "frees or changes what traces may name: the same, and some traces are forgotten") \
	X(allocates, \
	  "takes memory after the first op, though nothing ends by it: slow by itself, and mostly there is a free that goes with it") \
	X(unfit, "an op that cannot be recorded: it passes, and a trace ends here")

enum reprise_call_site_kind {
#define X(name, text) REPRISE_CALL_SITE_##name,
	REPRISE_CALL_SITE_KINDS(X)
#undef X
		REPRISE_CALL_SITE_KIND_COUNT
};

struct reprise_call_site {
	enum reprise_call_site_kind kind;
	const char *what; /* an entry point's name, or why the op is unfit; stays */
	const void *frames[REPRISE_STACK_MOST]; /* what the call returns to, and its callers */
	unsigned int depth;
	uint64_t count;
};

#define REPRISE_CALL_SITES_MOST 512

/* The first op came: from now on allocations are counted, too. */
void reprise_call_sites_begin(void);

/* None of our locks may be held. */
void reprise_call_site_count(enum reprise_call_site_kind kind, const char *what,
                             const void *address);

static inline void reprise_call_site_note(enum reprise_call_site_kind kind, const char *what,
                                          const void *address)
{
	if (__builtin_expect(reprise_reporting, 0))
		reprise_call_site_count(kind, what, address);
}

/* Slot `i` of REPRISE_CALL_SITES_MOST; `count` is 0 if nothing is there. */
struct reprise_call_site reprise_call_site_at(unsigned int i);
/* Calls from places for which there was no room. */
uint64_t reprise_call_sites_left_out(void);

void reprise_call_sites_forget(void);
