#include "lane/behind.h"

#include "base/placement.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "lane/group/group.h"

_Atomic(struct reprise_lane *) reprise_behind_wanted REPRISE_HOT_DATA;

static _Atomic bool idle; /* the answer */

/* What was given last may be under way for some microseconds, however far ahead the GPU is. */
static bool becomes_idle(CUstream stream)
{
	for (unsigned int i = 0; i < REPRISE_TUNE_TURNS_QUERIES; i++) {
		CUresult result;

		if (reprise_program_captures_any())
			return false;
		result = reprise_driver_query(stream);
		if (result != CUDA_ERROR_NOT_READY)
			return result == CUDA_SUCCESS;
	}
	return false;
}

static bool lane_becomes_idle(struct reprise_lane *lane)
{
	if (lane->group == NULL)
		return becomes_idle(lane->stream);
	for (unsigned int i = 0; i < lane->group->count; i++)
		if (!becomes_idle(lane->group->streams[i]))
			return false;
	return true;
}

void reprise_behind_want(struct reprise_lane *lane)
{
	atomic_store(&idle, false);
	atomic_store(&reprise_behind_wanted, lane);
}

void reprise_behind_ask(struct reprise_lane *lane)
{
	atomic_store(&reprise_behind_wanted, NULL);
	atomic_store(&idle, lane_becomes_idle(lane));
}

bool reprise_behind_take(struct reprise_lane *lane)
{
	if (atomic_load(&reprise_behind_wanted) == lane)
		reprise_behind_ask(lane);
	atomic_store(&reprise_behind_wanted, NULL);
	return atomic_exchange(&idle, false);
}

void reprise_behind_reset(void)
{
	atomic_store(&reprise_behind_wanted, NULL);
	atomic_store(&idle, false);
}
