#include "lane/behind.h"

#include "base/clock.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/program_captures.h"
#include "lane/group/group.h"

_Atomic(struct reprise_lane *) reprise_behind_wanted REPRISE_HOT_DATA;

static _Atomic bool idle; /* the answer */
/* The stream is looked at every so many ops; 0: it is not, or not any more. */
static _Atomic uint64_t look_every;
/* When a look found the GPU idle, on the clock (0: none has), and by the lane's ops. */
static _Atomic uint64_t seen_ns, seen_ops;

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
	return !lane->group->launched_beside || becomes_idle(lane->group->forks.beside);
}

void reprise_behind_want(struct reprise_lane *lane, uint64_t every)
{
	atomic_store(&idle, false);
	atomic_store(&seen_ns, 0);
	atomic_store(&look_every, every);
	atomic_store(&reprise_behind_wanted, lane);
}

void reprise_behind_look(struct reprise_lane *lane, uint64_t ops)
{
	uint64_t every = atomic_load_explicit(&look_every, memory_order_relaxed);

	if (every == 0 || ops % every != 0 || !becomes_idle(lane->stream))
		return;
	atomic_store(&look_every, 0);
	atomic_store(&seen_ops, ops);
	atomic_store(&seen_ns, reprise_clock_ns());
}

bool reprise_behind_seen(uint64_t *at_ns, uint64_t *at_ops)
{
	*at_ns = atomic_load(&seen_ns);
	*at_ops = atomic_load(&seen_ops);
	return *at_ns != 0;
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
	atomic_store(&look_every, 0);
	atomic_store(&seen_ns, 0);
}
