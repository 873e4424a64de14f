/* The program's own captures: while one is open, every call is eager. */
#include "entry/inner.h"

#include <stddef.h>

#include "base/inside.h"
#include "base/keep.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "stats/counters.h"
#include "lane/order.h"
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

void reprise_program_capture_begin(CUstream stream)
{
	REPRISE_KEEP_ERRNO;
	bool noted;

	if (reprise_inside != 0)
		return;
	reprise_count(REPRISE_COUNT_program_captures, 1);
	noted = reprise_program_captures_begin(stream, context_of(stream));
	if (stream == CU_STREAM_PER_THREAD)
		reprise_thread_owns();
	if (reprise_records())
		reprise_record_barrier(REPRISE_RECORD_CAPTURE, REPRISE_LANE_NONE);
	/* Only this thread's ops: other threads' ops are not part of the capture. A call that draws
	 * another stream into it issues what that stream's lane holds. */
	reprise_lanes_eager_call(stream, false);
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
