/*
 * How long the program takes from op to op, in observe: what the GPU has for each kernel if it is
 * not to fall behind.
 *
 * From the return of one eager call to the return of the next. The first ops of a process are left
 * out, since code is loaded with them; so are all once CUPTI is at work, which slows launches. Any
 * thread, no lock: of two readings at one time one may be lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reprise_pauses {
	uint64_t firsts; /* ops before which the program waited: a barrier, or a millisecond in which
	                    the GPU caught up */
	uint64_t count;  /* the others, */
	uint64_t ticks;  /* and the time to each of them */
};

/* An op passed; `first`: a barrier came before it. Returns how many had passed before. */
uint64_t reprise_pause_note(bool first, uint64_t ticks);

struct reprise_pauses reprise_pauses_read(void);

void reprise_pauses_forget(void);
