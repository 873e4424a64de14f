/*
 * The call sites that keep ops from being replayed: the stack of each call and its count.
 * A bounded number of stacks; calls of further ones are only counted. Any thread, no lock. The
 * report finds out whose the frames are, cudart's or the program's (report/caller.h): several
 * stacks may be one call site.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stats/counters.h"

/* The cudart of CUDA 13.0 has up to seven frames of its own (report/caller.h). */
#define REPRISE_STACK_MOST 10

/*
 * True if stacks are walked: only in observe. Set when Reprise starts. Otherwise the call's own
 * return address is all there is.
 *
 * The unwinder is the compiler's, in libgcc_s.so.1, loaded at the first walk. Without it stacks
 * have one frame. It reads the tables for exceptions, so a walk ends at a caller without one. With
 * glibc 2.35 and GCC 12 or later it takes no lock. Before, it takes the loader's lock of the list
 * of objects, which is never held while constructors run.
 *
 * Loading the library takes the loader's main lock, once. So no lock of Reprise's may be held. A
 * constructor that waits for the thread of the first walk would deadlock.
 */
extern bool reprise_stack_wanted;

/* The kinds of calls, once: name in reports, and the effect on the ops around. */
#define REPRISE_CALL_SITE_KINDS(X) \
	X(waits, \
	  "may depend on work of any stream: what is deferred is issued first, and the sequence ends") \
	X(ends, \
	  "frees or changes what graphs may use: the sequence ends, and some graphs are dropped") \
	X(allocates, \
	  "allocates after the first launch: slow, and the free that mostly follows ends a sequence") \
	X(orders, \
	  "orders streams outside of a fork that joins again, or no graph takes it: the sequence ends") \
	X(unfit, "cannot be part of a graph: it is issued by itself, and the sequence ends")

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

/* Of calls that may come several times among a few ops: only some of a thread's many are looked at,
 * and count for the others. A walk of the stack takes as long as a launch. */
void reprise_call_site_count_some(enum reprise_call_site_kind kind, const char *what,
                                  const void *address);

static inline void reprise_call_site_note_some(enum reprise_call_site_kind kind, const char *what,
                                               const void *address)
{
	if (__builtin_expect(reprise_reporting, 0))
		reprise_call_site_count_some(kind, what, address);
}

/* Slot `i` of REPRISE_CALL_SITES_MOST; `count` is 0 if it is empty. */
struct reprise_call_site reprise_call_site_at(unsigned int i);
/* Calls whose stacks found no room. */
uint64_t reprise_call_sites_left_out(void);

void reprise_call_sites_forget(void);
