/*
 * Who goes through all lanes here reads of most of them only what is seldom written (lane.h), so that threads which use lanes of their own do not
 * get in each other's way; of a lane that is concerned, whether there is anything to tell it.
 */
#include "order.h"

#include "../base/thread.h"
#include "../driver/driver.h"
#include "registry.h"

/* A point in the order of a stream. */
struct point {
	CUstream stream; /* resolved */
	CUcontext context; /* of a default stream; handles of others are one context's anyway */
	bool blocking;
};

/* Whether what the lane holds comes before the point. */
static bool precedes(const struct reprise_lane *lane, const struct point *point)
{
	if (point->stream == CU_STREAM_LEGACY)
		return lane->blocking && lane->context == point->context;
	return lane->stream == point->stream || (point->blocking && lane->stream == CU_STREAM_LEGACY);
}

static struct point point_of(CUstream stream, bool per_thread)
{
	const struct reprise_lane *lane = reprise_lanes_known(stream, per_thread);
	struct point point = {.stream = reprise_stream_resolve(stream, per_thread), .blocking = lane == NULL || lane->blocking};

	reprise_driver.cuCtxGetCurrent(&point.context);
	return point;
}

/* ---- what an op comes after ---- */

void reprise_lanes_make_way(const struct reprise_lane *lane, bool is_copy)
{
	bool across = is_copy && lane->stream == CU_STREAM_LEGACY;

	if (__builtin_expect(!across && reprise_lanes_unordered(lane), 1))
		return;

	struct point point = {lane->stream, lane->context, true};

	for (struct reprise_lane *other = reprise_lanes_first(); other != NULL; other = other->next)
		if (other != lane && (other->context == point.context ? precedes(other, &point) : across) && atomic_load(&other->deferred_since) != 0)
			reprise_lane_tell(other, false);
}

void reprise_lanes_make_way_for(CUstream stream, bool per_thread)
{
	struct point point = point_of(stream, per_thread);
	bool across = point.stream == CU_STREAM_LEGACY;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if ((precedes(lane, &point) || (across && lane->context != point.context)) && atomic_load(&lane->deferred_since) != 0)
			reprise_lane_tell(lane, false);
}

/* ---- what a synchronising call may observe ---- */

static bool observes(enum reprise_sync what, const struct point *point, const struct reprise_lane *lane)
{
	if (lane->owner != 0) /* nothing is held back there */
		return false;
	switch (what) {
	case REPRISE_SYNC_STREAM:
		return precedes(lane, point);
	case REPRISE_SYNC_EVENT:
		return false;
	case REPRISE_SYNC_DEFAULT:
		return precedes(lane, point) || lane->context != point->context;
	case REPRISE_SYNC_CONTEXT:
		return lane->context == point->context;
	default:
		return true;
	}
}

void reprise_lanes_sync(enum reprise_sync what, uintptr_t handle, bool per_thread)
{
	bool of_stream = what == REPRISE_SYNC_STREAM || what == REPRISE_SYNC_DEFAULT;
	struct point point = of_stream ? point_of((CUstream)handle, per_thread) : (struct point){.context = (CUcontext)handle};
	uint32_t self = reprise_thread_self();

	if (point.context == NULL)
		reprise_driver.cuCtxGetCurrent(&point.context);
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (atomic_load_explicit(&lane->thread, memory_order_relaxed) == self || observes(what, &point, lane))
			reprise_lane_tell(lane, true);
}
