/*
 * The program's own captures. While there is one nothing is deferred, and nothing may be asked of a
 * whole context: that would end the capture.
 *
 * Any thread. A capture is told of before it goes through the gate (base/gate.h): while that is
 * closed, none begins that nobody knows of.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic uint32_t reprise_program_captures;

/* Whether the program captures. */
static inline bool reprise_program_captures_any(void)
{
	return atomic_load_explicit(&reprise_program_captures, memory_order_acquire) != 0;
}

/* A capture may begin on the stream of that handle, in that context. False if there are too many to
 * take note of. */
bool reprise_program_captures_begin(CUstream stream, CUcontext context);

/* One that was noted so has ended, or did not begin. */
void reprise_program_captures_end(CUstream stream, CUcontext context);

/* The stream, which is no default stream, is destroyed; or if it is NULL, the context: with all
 * captures that began there. */
void reprise_program_captures_end_all(CUstream stream, CUcontext context);

/* The thread has ended, and nobody can name its own default stream any more, nor end what it
 * captured there. */
void reprise_program_captures_thread_ended(uint32_t thread);

/* After fork, in the child. */
void reprise_program_captures_reset(void);
