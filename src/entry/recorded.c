#include "entry/inner.h"

#include "process/process.h"
#include "lane/loading.h"
#include "lane/threads.h"
#include "lane/registry.h"

/* Recording asks the driver about the kernel, which may load it. Loading may wait for what other
 * threads have deferred, so that is issued first. */
void reprise_recorded_op(const struct reprise_call *call)
{
	const struct reprise_lane *lane = reprise_lanes_find_own(call->stream, call->per_thread);
	struct reprise_record_lane described = {0};
	bool loads;

	if (lane != NULL && lane->owner != 0)
		lane = NULL; /* a thread's own stream is recorded without a lane */
	if (lane != NULL)
		described = (struct reprise_record_lane){lane->number, lane->stream == CU_STREAM_LEGACY,
		                                         lane->blocking, (uintptr_t)lane->context};
	reprise_process_prepare(); /* registers the exit handler, which writes the recording */
	loads = reprise_loading_begins_launch(call, true);
	reprise_record_op(lane != NULL ? &described : NULL, call);
	if (loads) /* false: the kernel is not launched yet */
		reprise_loading_ends(call->kernel.function, REPRISE_FUNCTION_LAUNCH, false);
}

static void barrier(enum reprise_record_kind kind, const struct reprise_lane *lane)
{
	reprise_record_barrier(kind,
	                       lane != NULL && lane->owner == 0 ? lane->number : REPRISE_LANE_NONE);
}

void reprise_recorded_order(const struct reprise_lane *lane)
{
	if (reprise_lanes_have_news())
		barrier(REPRISE_RECORD_ORDER, lane);
}

void reprise_recorded_wait(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	if (reprise_lanes_have_news())
		barrier(REPRISE_RECORD_WAIT, what == REPRISE_SYNC_STREAM || what == REPRISE_SYNC_QUERY
		                                 ? reprise_lanes_known((CUstream)handle, per_thread)
		                                 : NULL);
}

void reprise_recorded_lifetime(enum reprise_lifetime what, uintptr_t handle)
{
	static const enum reprise_record_kind kinds[] = {
		[REPRISE_LIFETIME_CODE] = REPRISE_RECORD_CODE,
		[REPRISE_LIFETIME_FUNCTION] = REPRISE_RECORD_FUNCTION,
		[REPRISE_LIFETIME_KERNEL] = REPRISE_RECORD_FUNCTION,
		[REPRISE_LIFETIME_MEMORY] = REPRISE_RECORD_MEMORY,
		[REPRISE_LIFETIME_ARRAYS] = REPRISE_RECORD_MEMORY,
		[REPRISE_LIFETIME_UNNAMED] = REPRISE_RECORD_MEMORY,
		[REPRISE_LIFETIME_ATTRIBUTES] = REPRISE_RECORD_ATTRIBUTES,
		[REPRISE_LIFETIME_STREAM] = REPRISE_RECORD_STREAM,
		[REPRISE_LIFETIME_CONTEXT] = REPRISE_RECORD_CONTEXT,
		[REPRISE_LIFETIME_DETACH] = REPRISE_RECORD_CONTEXT,
		[REPRISE_LIFETIME_PRIMARY] = REPRISE_RECORD_CONTEXT,
		[REPRISE_LIFETIME_RESET] = REPRISE_RECORD_CONTEXT,
	};
	bool of_stream = what == REPRISE_LIFETIME_ATTRIBUTES || what == REPRISE_LIFETIME_STREAM;

	barrier(kinds[what], of_stream ? reprise_lanes_known((CUstream)handle, false) : NULL);
}
