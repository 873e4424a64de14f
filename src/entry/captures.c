/* The program's own captures: calls on streams that capture are eager. */
#include "entry/inner.h"

#include <stddef.h>

#include "base/ending.h"
#include "base/inside.h"
#include "base/keep.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "stats/counters.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "lane/threads.h"

void reprise_program_captures_destroyed(CUstream stream, CUcontext context)
{
	/* No default stream is ever destroyed. */
	if (!reprise_program_captures_any() || (stream != NULL && stream <= CU_STREAM_PER_THREAD))
		return;
	reprise_lanes_lose_order(stream); /* calls during the capture were not noted */
	reprise_program_captures_end_all(stream, context);
}

/* The stream's context; for a default stream, the current one. */
static CUcontext context_of(CUstream stream)
{
	CUcontext context = NULL;

	if (stream > CU_STREAM_PER_THREAD)
		reprise_driver.cuStreamGetCtx(stream, &context);
	else
		reprise_driver_current(&context);
	return context;
}

/* True if the stream is ordered against the legacy stream, or if that is not known. */
static bool is_blocking(CUstream stream)
{
	unsigned int flags = 0;

	return stream <= CU_STREAM_PER_THREAD ||
	       reprise_driver.cuStreamGetFlags(stream, &flags) != CUDA_SUCCESS ||
	       (flags & CU_STREAM_NON_BLOCKING) == 0;
}

void reprise_program_capture_begin(CUstream stream)
{
	REPRISE_KEEP_ERRNO;
	CUcontext context;
	bool noted, blocking;

	if (reprise_inside != 0)
		return;
	reprise_count(REPRISE_COUNT_program_captures, 1);
	context = context_of(stream);
	blocking = is_blocking(stream);
	noted = reprise_program_captures_begin(stream, context, blocking);
	if (stream == CU_STREAM_PER_THREAD)
		reprise_thread_owns();
	if (reprise_records())
		reprise_record_barrier(REPRISE_RECORD_CAPTURE, REPRISE_LANE_NONE);
	/* Only this thread's ops: other threads' ops are not part of the capture. A call that draws
	 * another stream into it issues what that stream's lane holds. */
	reprise_lanes_eager_call(stream, false);
	reprise_lanes_give_way_to_capture(stream, false, context, blocking);
	if (!noted)
		reprise_stop("too many captures at once");
}

void reprise_program_capture_end(CUstream stream)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside != 0)
		return;
	if (stream > CU_STREAM_PER_THREAD)
		reprise_lanes_lose_order(stream);
	reprise_program_captures_end(stream, context_of(stream));
}

/* ---- streams that join a capture ---- */

/* True if a capture concerns the stream already. The legacy stream cannot join one. */
static bool needs_no_note(CUstream stream, CUcontext context)
{
	return stream == CU_STREAM_LEGACY ||
	       reprise_program_captures_concern(stream, context,
	                                        stream == CU_STREAM_PER_THREAD ? reprise_thread_self()
	                                                                       : 0);
}

static void join(CUstream stream, CUcontext context)
{
	bool blocking = is_blocking(stream);

	reprise_program_captures_join(stream, context, blocking);
	reprise_lanes_give_way_to_capture(stream, false, context, blocking);
}

/* Does not end a capture: of a stream other than the legacy one it may be asked at any time. */
static bool captures(CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return reprise_driver.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool reprise_program_wait_begin(CUstream stream, bool per_thread)
{
	REPRISE_KEEP_ERRNO;
	CUcontext context;

	if (reprise_inside != 0 || !reprise_program_captures_any())
		return false;
	stream = reprise_stream_resolve(stream, per_thread);
	context = context_of(stream);
	if (needs_no_note(stream, context))
		return false;
	join(stream, context);
	return true;
}

void reprise_program_wait_end(CUstream stream, bool per_thread, bool noted, CUresult result)
{
	REPRISE_KEEP_ERRNO;
	CUcontext context;
	bool joined;

	if (!noted &&
	    (reprise_inside != 0 || result != CUDA_SUCCESS || !reprise_program_captures_any()))
		return;
	stream = reprise_stream_resolve(stream, per_thread);
	context = context_of(stream);
	if (!noted && needs_no_note(stream, context))
		return;
	joined = result == CUDA_SUCCESS && captures(stream);
	if (!noted && !joined)
		return;
	if (!noted) /* the capture has begun since */
		join(stream, context);
	reprise_program_captures_joined(stream, context, joined);
}
