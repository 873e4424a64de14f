/*
 * Keeps Reprise's captures and the program's context-wide synchronisation apart.
 *
 * While any stream of a context captures, in whatever mode, cuCtxSynchronize and similar calls fail
 * with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED and invalidate the capture
 * (docs/decisions/0004-capture-lock.md). The program must not see that, so no capture of Reprise's
 * is open in a context during such a call. Captures of other contexts go on: they may wait in the
 * driver for this thread's next call.
 *
 * Any thread; no lock is held on return.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* Lets the caller open a capture in the context. False while the program makes such a call, or an
 * unknown one (base/gate.h). Never waits. */
bool reprise_capture_lock_enter(CUcontext context);
/* The same, but tries again for `nanoseconds`. The program's next such call lets the caller go
 * first. */
bool reprise_capture_lock_enter_soon(CUcontext context, uint64_t nanoseconds);
void reprise_capture_lock_leave(CUcontext context);

/* Around such a call of the program's; NULL: the context is unknown. Waits for an open capture,
 * which takes microseconds. */
void reprise_context_sync_begin(CUcontext context);
void reprise_context_sync_end(CUcontext context);

/* After fork, in the child. */
void reprise_capture_lock_reset(void);
