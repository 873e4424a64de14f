/*
 * The program's own captures. During one nothing is deferred, and Reprise makes no context-wide
 * call: it would invalidate the capture.
 *
 * Any thread. A capture is noted before it goes through the gate (base/gate.h): while the gate is
 * closed, no capture begins unnoted.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic uint32_t reprise_program_captures;

/* True if the program captures. */
static inline bool reprise_program_captures_any(void)
{
	return atomic_load_explicit(&reprise_program_captures, memory_order_acquire) != 0;
}

/* A capture may begin on that stream in that context. False if there are too many to note. */
bool reprise_program_captures_begin(CUstream stream, CUcontext context);

/* A noted capture has ended, or did not begin. */
void reprise_program_captures_end(CUstream stream, CUcontext context);

/* Drops the captures on a created stream that is destroyed; NULL: all captures of the context. */
void reprise_program_captures_end_all(CUstream stream, CUcontext context);

/* The thread has ended: its own default stream cannot be named any more, nor its captures ended. */
void reprise_program_captures_thread_ended(uint32_t thread);

/* After fork, in the child. */
void reprise_program_captures_reset(void);
