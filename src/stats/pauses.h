/*
 * The time that the program takes from op to op, in observe. If kernels take no longer, the GPU
 * does not fall behind.
 *
 * Measured from the return of one eager call to the return of the next. Left out are the first ops
 * of a process, which load code, and all ops once CUPTI works, which slows launches. Any thread, no
 * lock: one of two simultaneous readings may be lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reprise_pauses {
	/* Ops before which the program waited: a barrier, or a millisecond in which the GPU caught
	 * up. */
	uint64_t firsts;
	/* The other ops, and the sum of the times to each. */
	uint64_t count;
	uint64_t ticks;
};

/* After an eager op. `first`: a barrier came before it. Returns the number of ops before. */
uint64_t reprise_pause_note(bool first, uint64_t ticks);

struct reprise_pauses reprise_pauses_read(void);

void reprise_pauses_forget(void);
