/*
 * Keeping our captures and the program's context-wide synchronisation apart.
 *
 * While any stream of a context captures, in whatever mode, cuCtxSynchronize and the like fail with
 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED and invalidate the capture (CUDA programming guide,
 * "Prohibited and Unhandled Operations"; seen on an H200: 2986 of 3000 calls failed). The program
 * must never see that because of a capture of ours, so none is open in that context while it makes
 * such a call. Other contexts' captures are left alone: they may wait in the driver for what this
 * thread does next.
 *
 * Any thread; no lock is held on return.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* A capture of ours may be opened in the context; false if the program is in such a call, or in one
 * that nobody knows (base/gate.h). Never waits. */
bool reprise_capture_lock_enter(CUcontext context);
/* The same, but waits for it, at most so long. The program's next such call lets us go first. */
bool reprise_capture_lock_enter_soon(CUcontext context, uint64_t nanoseconds);
void reprise_capture_lock_leave(CUcontext context);

/* Around such a call of the program's; NULL: nobody knows of which context. Waits for the capture
 * that is open, which takes microseconds. */
void reprise_context_sync_begin(CUcontext context);
void reprise_context_sync_end(CUcontext context);

/* After fork, in the child. */
void reprise_capture_lock_reset(void);
