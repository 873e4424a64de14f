/*
 * Errors of deferred ops: the program was answered success, and then the driver refused the op.
 *
 * Each error is the result of one call that waits or queries, in the order in which the driver
 * answered. That call is not made then: a call that was made is never reported as failed. An eager
 * call's own error is its result and is never kept here. A wait is told of errors of the calling
 * thread's ops, and of ops of the streams that it waits for. After a stream has ended, any wait for
 * its context is told. When a context ends, its errors are dropped.
 *
 * Any thread; any locks may be held.
 */
#pragma once

#include "lane/lane.h"

/* Number of errors kept. */
extern _Atomic uint64_t reprise_errors_count;

/* The driver answered `error` to an op on `stream`, one of the lane's, that had been answered with
 * success. CUDA_SUCCESS is ignored. */
void reprise_errors_keep_one(const struct reprise_lane *lane, CUstream stream, CUresult error);

static inline void reprise_errors_keep(const struct reprise_lane *lane, CUstream stream,
                                       CUresult error)
{
	if (__builtin_expect(error != CUDA_SUCCESS, 0))
		reprise_errors_keep_one(lane, stream, error);
}

/* What a call waits for. */
struct reprise_errors_wait {
	enum reprise_sync what;
	CUstream stream;   /* resolved; of a wait for a stream */
	CUcontext context; /* the current one, or the one that is waited for */
	bool blocking;     /* the stream is ordered against the legacy default stream */
};

/* Removes and returns the oldest error that the calling thread is told by this wait; CUDA_SUCCESS
 * if there is none. */
CUresult reprise_errors_take(const struct reprise_errors_wait *wait);

/* Before the stream ends: its handle may be a new stream's at once. */
void reprise_errors_stream_ended(CUstream stream);

/* After the context has ended. */
void reprise_errors_context_ended(CUcontext context);

/* After fork, in the child. */
void reprise_errors_reset(void);
