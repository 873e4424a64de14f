#include "lifetime.h"

#include "../base/inside.h"
#include "../report/counters.h"
#include "../timeline/timeline.h"
#include "barrier.h"
#include "doors.h"
#include "eager.h"
#include "joint.h"
#include "order.h"
#include "recorded.h"
#include "registry.h"
#include "thread.h"
#include "traces.h"

/* What is to be forgotten of all lanes. */
struct forgetting {
	CUfunction function;  /* NULL: all traces */
	CUstream stream;      /* only this stream's lane, if `one_stream` */
	bool one_stream;
	CUcontext context;    /* only this context's lanes; NULL: all */
	bool gone;            /* the contexts go, with all that is in them */
	bool retire;          /* the lanes go too */
};

static void forget(struct reprise_lane *lane, void *context)
{
	const struct forgetting *what = context;

	if (atomic_load(&lane->retired) || (what->one_stream && lane->stream != what->stream) ||
	    (what->context != NULL && lane->context != what->context))
		return;
	if (what->one_stream || what->retire)
		reprise_joint_part_paused(lane, what->gone, false);
	reprise_lock_take(&lane->lock);
	reprise_lane_barrier(lane, false);
	reprise_lane_forget(lane, what->function, what->gone);
	if (what->retire || what->one_stream)
		reprise_lane_close(lane, what->gone);
	reprise_lock_give(&lane->lock);
	if (what->retire)
		reprise_lanes_retire(lane);
}

void reprise_lanes_forget_all(void)
{
	struct forgetting all = {0};

	reprise_lanes_each(forget, &all);
}

static void end_lifetime(enum reprise_lifetime what, uintptr_t handle)
{
	struct forgetting forgetting = {0};

	reprise_count(REPRISE_COUNT_lifetimes, 1);
	if (reprise_records())
		reprise_recorded_lifetime(what, handle);
	reprise_lanes_barrier(true);
	switch (what) {
	case REPRISE_LIFETIME_MEMORY:
		reprise_memory_forget();
		return;
	case REPRISE_LIFETIME_FUNCTION:
		forgetting.function = (CUfunction)handle;
		break;
	case REPRISE_LIFETIME_STREAM:
		reprise_capture_is_over((CUstream)handle, NULL);
		/* fall through */
	case REPRISE_LIFETIME_ATTRIBUTES:
		if ((CUstream)handle == CU_STREAM_PER_THREAD)
			reprise_threads_leave_alone();
		forgetting.one_stream = true;
		forgetting.retire = handle > (uintptr_t)CU_STREAM_PER_THREAD;
		forgetting.stream = handle == 0 ? CU_STREAM_LEGACY : (CUstream)handle;
		break;
	case REPRISE_LIFETIME_CONTEXT:
		forgetting.context = (CUcontext)handle;
		forgetting.gone = true;
		forgetting.retire = true;
		if (handle != 0)
			reprise_capture_is_over(NULL, (CUcontext)handle);
		break;
	default:
		break;
	}
	reprise_graph_building_pause();
	if (what == REPRISE_LIFETIME_CODE || what == REPRISE_LIFETIME_CONTEXT)
		reprise_functions_forget();
	if (what == REPRISE_LIFETIME_CONTEXT) {
		reprise_memory_forget();
		reprise_graveyard_forget((CUcontext)handle);
		reprise_joint_forget_spares((CUcontext)handle);
	}
	reprise_lanes_each(forget, &forgetting);
	reprise_graph_building_resume();
}

void reprise_lifetime(enum reprise_lifetime what, uintptr_t handle)
{
	uint64_t begin = reprise_timeline_begin();

	if (reprise_inside != 0)
		return;
	end_lifetime(what, handle);
	reprise_timeline_end_call(REPRISE_TIMELINE_LIFETIME, begin);
}
