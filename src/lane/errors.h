/*
 * Errors of deferred ops: the program was answered success, and then the driver refused the op.
 *
 * The program is told of each once, in the order in which the driver answered, by a call that waits
 * or asks: in its stead, so that it is never told that a call failed which was made. An op's own
 * error is answered to that op alone, and never kept here. A wait is told of errors of the calling
 * thread's ops, and of ops of the streams that it waits for; once a stream has ended, any wait for
 * its context is. With a context, what is kept of it goes.
 *
 * Any thread, whatever locks it holds.
 */
#pragma once

#include "lane/lane.h"

/* How many are kept. */
extern _Atomic uint64_t reprise_errors_count;

/* The driver answered `error` to an op on `stream`, one of the lane's, that had been answered with
 * success. CUDA_SUCCESS is none. */
void reprise_errors_keep_one(const struct reprise_lane *lane, CUstream stream, CUresult error);

static inline void reprise_errors_keep(const struct reprise_lane *lane, CUstream stream,
                                       CUresult error)
{
	if (__builtin_expect(error != CUDA_SUCCESS, 0))
		reprise_errors_keep_one(lane, stream, error);
}

/* What a wait is for. */
struct reprise_errors_wait {
	enum reprise_sync what;
	CUstream stream;   /* resolved; of a wait for one */
	CUcontext context; /* the current one, or that which is waited for */
	bool blocking;     /* the stream is ordered against the legacy default stream */
};

/* The oldest error that the calling thread is to be told by such a wait, which is kept no more; or
 * CUDA_SUCCESS. */
CUresult reprise_errors_take(const struct reprise_errors_wait *wait);

/* Before it does, since its handle may be a new one's at once. */
void reprise_errors_stream_ended(CUstream stream);

/* Once it has, and not while it may yet stay. */
void reprise_errors_context_ended(CUcontext context);

/* After fork, in the child. */
void reprise_errors_reset(void);
