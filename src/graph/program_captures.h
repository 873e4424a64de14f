/*
 * The program's own captures. What is given to a stream that captures belongs to the program's
 * graph, so nothing is deferred there, and the stream is not queried. Other streams go on. Reprise
 * makes no context-wide call during a capture: it would invalidate the capture.
 *
 * A stream captures from cuStreamBeginCapture* on, or from a wait for an event that was recorded in
 * a capture: it has joined. A stream that has joined counts as capturing until no capture is open.
 *
 * Any thread. A capture is noted before it goes through the gate (base/gate.h): while the gate is
 * closed, no capture begins unnoted. A stream is noted before the driver is called that makes it
 * capture. Whoever notes it takes the locks of the lanes concerned afterwards, and issues what they
 * hold (lane/order.h). So an op that finds its stream unconcerned, under its lane's lock, may be
 * deferred.
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

/* A capture may begin on that stream in that context. `blocking`: the stream is ordered against the
 * legacy stream. False if there are too many to note. */
bool reprise_program_captures_begin(CUstream stream, CUcontext context, bool blocking);

/* A noted capture has ended, or did not begin. */
void reprise_program_captures_end(CUstream stream, CUcontext context);

/* The stream is about to wait for an event, and a capture is open: it may join that. The second is
 * called when the driver has answered; `captures`: the stream is, or may be, in a capture. */
void reprise_program_captures_join(CUstream stream, CUcontext context, bool blocking);
void reprise_program_captures_joined(CUstream stream, CUcontext context, bool captures);

/* An unknown call came: any stream may capture until no capture is open. */
void reprise_program_captures_doubt(void);

/*
 * True if what is given to the stream may not be deferred because of a capture: the stream may
 * capture, or it is the legacy stream of a context in which a blocking stream may. `owner`: the
 * thread of a thread's own default stream, else 0. Without a lock.
 */
bool reprise_program_captures_concern(CUstream stream, CUcontext context, uint32_t owner);

/* Drops the captures on a created stream that is destroyed; NULL: all captures of the context. */
void reprise_program_captures_end_all(CUstream stream, CUcontext context);

/* The thread has ended: its own default stream cannot be named any more, nor its captures ended. */
void reprise_program_captures_thread_ended(uint32_t thread);

/* After fork, in the child. */
void reprise_program_captures_reset(void);
