/*
 * The program's time from one op to the next, in observe. The GPU keeps up if kernels take no
 * longer.
 *
 * A pause runs from the return of one eager call to the return of the next. Not measured are the
 * first ops of a process, which load code, and all ops after CUPTI has started, which slows
 * launches. Any thread, no lock: of two simultaneous notes one may be lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reprise_pauses {
	/* Ops after a barrier, or after a millisecond without an op: the GPU has caught up. */
	uint64_t firsts;
	/* All other ops, and the sum of the pauses before them. */
	uint64_t count;
	uint64_t ticks;
};

/* After an eager op. `first`: a barrier came before it. Returns the number of ops before. */
uint64_t reprise_pause_note(bool first, uint64_t ticks);

struct reprise_pauses reprise_pauses_read(void);

void reprise_pauses_forget(void);
